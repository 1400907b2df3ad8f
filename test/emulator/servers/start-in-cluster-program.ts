import cluster from 'node:cluster';
import { once } from 'node:events';
import { startSequencer } from '../../../src/emulator/index.js';

// Two workers of a cluster start a sequencer with the same port, one after the other. Each prints its URL, or the error.
const [, , option = '', port = ''] = process.argv;
if (cluster.isPrimary) {
  for (let worker = 0; worker < 2; worker += 1) {
    const [outcome] = await once(cluster.fork(), 'message');
    console.log(JSON.stringify(outcome));
  }
} else {
  await startSequencer({ [option]: Number(port), unref: false }).then(
    ({ url }) => process.send?.({ url }),
    ({ message }: Error) => process.send?.({ problem: message }),
  );
}
