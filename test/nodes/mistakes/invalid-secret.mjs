import { createWallet, startSimulator } from 'express-intents/testing';

const simulator = await startSimulator();
const wallet = createWallet({ url: simulator.url, name: 'Ada' });

async function pay() {
  await wallet.pay('not a client secret'); // the mistake
}

pay();
