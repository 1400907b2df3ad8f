import { lazyTransport } from '../../src/sequencer/create-transport.js';
import type { Transport } from '../../src/sequencer/transport.js';
import { operations } from '../../src/wire/envelope.js';

const body = Uint8Array.of(7);

/** A transport that echoes requests and counts its starts and closes. */
function counting(failures = 0) {
  const counts = { started: 0, closed: 0 };
  const inner: Transport = {
    call: async (_operation, sent, options) => {
      options?.signal?.throwIfAborted();
      return sent;
    },
    close: async () => {
      counts.closed += 1;
    },
  };
  const transport = lazyTransport(async () => {
    counts.started += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (counts.started <= failures) throw new Error(`failure ${counts.started}`);
    return inner;
  });
  return { counts, transport };
}

it('lazyTransport rejects all calls that waited for a failed connect, and connects again for the next call', async () => {
  const { counts, transport } = counting(1);
  const outcomes = await Promise.allSettled([
    transport.call(operations.getStatus, body),
    transport.call(operations.getStatus, body),
  ]);
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message)).toEqual([
    'failure 1',
    'failure 1',
  ]);
  expect(await transport.call(operations.getStatus, body)).toBe(body);
  expect(counts.started).toBe(2);
});

it('lazyTransport closes its transport, waits for a running connect, and starts none to close it', async () => {
  const unused = counting();
  await unused.transport.close();
  expect(unused.counts).toEqual({ started: 0, closed: 0 });

  const starting = counting();
  const call = starting.transport.call(operations.getStatus, body);
  await starting.transport.close();
  await call;
  expect(starting.counts).toEqual({ started: 1, closed: 1 });

  const failing = counting(1);
  const failed = failing.transport.call(operations.getStatus, body);
  await Promise.all([expect(failed).rejects.toThrow('failure 1'), failing.transport.close()]);
  expect(failing.counts).toEqual({ started: 1, closed: 0 });
});
