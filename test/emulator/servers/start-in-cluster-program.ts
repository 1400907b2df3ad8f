import cluster from 'node:cluster';
import { once } from 'node:events';
import { startSequencer } from '../../../src/emulator/index.js';
import { intentRouter } from '../../../src/index.js';

// Two workers of a cluster start a sequencer with the same port, one after the other. Each prints its URL, or the error.
const [, , option = '', port = ''] = process.argv;
const site = { sequencerUrl: 'embedded', login: false, payment: () => ({ amount: 5, currency: 'usd' }) } as const;
const start = async () =>
  option === 'router'
    ? intentRouter({ ...site, emulator: { port: Number(port) } }).ready()
    : startSequencer({ [option]: Number(port), unref: false });
if (cluster.isPrimary) {
  for (let worker = 0; worker < 2; worker += 1) {
    const [outcome] = await once(cluster.fork(), 'message');
    console.log(JSON.stringify(outcome));
  }
} else {
  await start().then(
    (sequencer) => process.send?.({ url: sequencer?.url }),
    ({ message }: Error) => process.send?.({ problem: message }),
  );
}
