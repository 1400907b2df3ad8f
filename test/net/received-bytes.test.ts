import fc from 'fast-check';
import { ReceivedBytes } from '../../src/net/received-bytes.js';

test('the bytes of a body are those of its chunks, in order, after each chunk', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 }), (chunks) => {
      const body = new ReceivedBytes();
      let expected = Buffer.alloc(0);
      const views = chunks.map((chunk) => {
        body.append(chunk);
        expected = Buffer.concat([expected, chunk]);
        return { view: body.bytes(), expected };
      });
      for (const { view, expected } of views) expect(Buffer.compare(view, expected)).toBe(0);
      expect(body.length).toBe(expected.length);
    }),
  );
});

test('a body in chunks of one byte takes at most two bytes of memory for each', () => {
  const body = new ReceivedBytes();
  for (let length = 1; length <= 5_000; length += 1) {
    body.append(Uint8Array.of(length));
    expect(body.bytes().buffer.byteLength).toBeLessThanOrEqual(2 * length);
  }
});

test('a body does not keep the memory of its chunks', () => {
  const chunk = Uint8Array.of(1, 2, 3);
  const body = new ReceivedBytes();
  body.append(chunk);
  chunk.fill(0);
  expect([...body.bytes()]).toEqual([1, 2, 3]);
});
