import { jest } from '@jest/globals';
import { createHttpTransport } from '../../../src/sequencer/http/http-transport.js';
import { encodeOkResponse, operations } from '../../../src/wire/envelope.js';
import { startRawSequencer } from '../../support/sequencers/raw-sequencer.js';

afterEach(() => jest.restoreAllMocks());

/** Counts the bytes that `Buffer.concat` and `Uint8Array.prototype.set` copy. */
function countCopiedBytes(): () => number {
  let copied = 0;
  const { concat } = Buffer;
  jest.spyOn(Buffer, 'concat').mockImplementation((...args) => {
    const whole = concat(...args);
    copied += whole.length;
    return whole;
  });
  const { set } = Uint8Array.prototype;
  jest.spyOn(Uint8Array.prototype, 'set').mockImplementation(function (this: Uint8Array, source, offset) {
    copied += source.length;
    set.call(this, source, offset);
  });
  return () => copied;
}

test('an answer in 60,000 chunks of one byte is copied a few times, not once for each chunk', async () => {
  const inner = new Uint8Array(60_000).map((_, index) => index);
  const envelope = encodeOkResponse(inner);
  const chunks = [...envelope].flatMap((byte) => [...Buffer.from('1\r\n'), byte, ...Buffer.from('\r\n')]);
  const answer = Buffer.concat([
    Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
    Buffer.from(chunks),
    Buffer.from('0\r\n\r\n'),
  ]);
  const sequencer = await startRawSequencer(() => (socket) => void socket.write(answer));
  // A timeout that no test reaches.
  const transport = createHttpTransport({ url: sequencer.url, timeoutMs: 160_000 });
  try {
    const copiedBytes = countCopiedBytes();
    const received = await transport.call(operations.getStatus, new Uint8Array());
    const copied = copiedBytes();
    expect(Buffer.compare(received, inner)).toBe(0);
    expect(copied).toBeGreaterThanOrEqual(envelope.length);
    // The HTTP parser copies the bytes of the connection, with the frame of each chunk, once.
    expect(copied).toBeLessThan(4 * answer.length);
  } finally {
    await transport.close();
    await sequencer.close();
  }
});
