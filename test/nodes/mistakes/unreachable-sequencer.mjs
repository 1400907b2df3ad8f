import { createIntentClient, generateKeyPair } from 'express-intents';

const client = createIntentClient({ url: 'http://127.0.0.1:1' });

async function pay() {
  const terms = { amount: 1, currency: 'usd', destination: generateKeyPair().publicKey };
  return client.paymentIntents.create(terms); // the mistake
}

pay();
