import { generateKeyPair, intentRouter } from 'express-intents';

const { publicKey, secret } = generateKeyPair();
const router = intentRouter({
  sequencer: { url: 'https://sequencer.example' },
  login: { domain: 'shop.example', verifierSecret: secret },
  destination: publicKey,
  payment: () => ({ amount: '1.00', currency: 'usd' }),
  ledger: { url: 'postgres://127.0.0.1:1/shop' },
});

async function start() {
  await router.ready(); // the mistake
}

await start();
