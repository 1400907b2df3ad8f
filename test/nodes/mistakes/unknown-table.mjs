import { generateKeyPair, intentRouter } from 'express-intents';

const { publicKey, secret } = generateKeyPair();
const router = intentRouter({
  sequencer: { url: 'https://sequencer.example' },
  login: { domain: 'shop.example', verifierSecret: secret },
  destination: publicKey,
  payment: () => ({ amount: '1.00', currency: 'usd' }),
  ledger: { url: './ledger' },
});

async function report() {
  await router.ready();
  const { rows } = await router.database.query('select * from ordres'); // the mistake
  return rows;
}

report();
