import { liveEvents } from '../../src/http/live-events.js';
import { createIntentClient } from '../../src/sequencer/intent-client.js';
import type { AskStatus } from '../../src/sequencer/shared-status.js';
import { intentId } from '../support/sites/event-site.js';
import { LogRecorder } from '../support/sites/site.js';
import { pending, StatusTransport, scanned } from '../support/transports/status-transport.js';

/** How a watch asks, and how the tabs do. */
function asking() {
  const transport = new StatusTransport();
  let askStatus: AskStatus = () => Promise.reject(new Error('No watch was made.'));
  const { status } = liveEvents({
    client: createIntentClient({ transport }),
    watch: (ask) => {
      askStatus = ask;
      return async function* () {};
    },
    connections: { perBrowser: 1, perAddress: 1, perProcess: 1 },
    logger: new LogRecorder(),
    now: () => 5_000,
  });
  const { signal } = new AbortController();
  return { transport, status, ask: () => askStatus(intentId, { signal }) };
}

test('a watch and the tabs that ask at the same time share one call', async () => {
  const { transport, status, ask } = asking();
  expect(await Promise.all([status.get(intentId), ask(), status.get(intentId)])).toEqual([pending, pending, pending]);
  expect(transport.asked).toBe(1);
});

test('a watch takes no answer of before, and leaves its own to the tabs', async () => {
  const { transport, status, ask } = asking();
  await status.get(intentId);
  transport.answerWith(scanned);
  expect(await ask()).toEqual(scanned);
  expect(transport.asked).toBe(2);
  expect(status.known(intentId)).toEqual(scanned);
});
