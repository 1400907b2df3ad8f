import { generateKeyPair, intentRouter } from 'express-intents';

const { publicKey, secret } = generateKeyPair();
const router = intentRouter({
  sequencerUrl: 'https://sequencer.example',
  domain: 'shop.example',
  verifierSecret: secret,
  destination: publicKey,
  payment: () => ({ amount: '1.00', currency: 'usd' }),
  databaseUrl: './ledger',
});

async function report() {
  await router.ready();
  const { rows } = await router.database.query('select * from ordres'); // the mistake
  return rows;
}

report();
