import { createWallet, startSequencer } from 'express-intents/testing';

const sequencer = await startSequencer();
const wallet = createWallet({ url: sequencer.url, name: 'Ada' });

async function pay() {
  await wallet.pay('not a client secret'); // the mistake
}

pay();
