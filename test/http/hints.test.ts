import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { intentId, otherIntentId, startEventSite } from '../support/sites/event-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { submitted } from '../support/transports/status-transport.js';

test('however many hints come, the service is asked a few times, and what the last one was about is told', async () => {
  const submittedIds: string[] = [];
  const site = await startEventSite({ onSubmitted: (id) => submittedIds.push(id) });
  const { transport, context, watch } = site;
  const stream = new RawStream(site.origin, `/intent/${intentId}/events`);
  await stream.has('event: status');
  await eventually('a watch', () => watch.running === 1);
  const { asked } = transport;
  for (let round = 0; round < 30; round += 1) {
    for (let count = 0; count < 100; count += 1) context.events.hint(intentId);
    for (const nobodys of [otherIntentId, '', 'x'.repeat(7_900)]) context.events.hint(nobodys);
    site.pass(10);
    await wait(10);
  }
  // In 0.3 seconds and a bit.
  expect(transport.asked - asked).toBeGreaterThan(0);
  expect(transport.asked - asked).toBeLessThan(8);
  transport.answerWith(submitted);
  context.events.hint(intentId);
  await stream.has('event: intent_submitted');
  // Who made the hint need not be who settles: nobody else tells the ledger once the watch has ended.
  expect(submittedIds).toEqual([intentId]);
});
