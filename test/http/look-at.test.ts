import { createLookAt, type LookAtOptions } from '../../src/http/look-at.js';
import { LogRecorder } from '../support/sites/site.js';

const settled = (): Promise<void> => new Promise(setImmediate);

/** Looks whose answers come when the test says so. */
function looks(options: Partial<LookAtOptions> = {}) {
  const asked: string[] = [];
  const open: { id: string; end: (error?: Error) => void }[] = [];
  const logger = new LogRecorder();
  const ask = (id: string): Promise<void> => {
    asked.push(id);
    return new Promise((resolve, reject) => {
      open.push({ id, end: (error) => (error ? reject(error) : resolve()) });
    });
  };
  const endFirst = async (error?: Error): Promise<void> => {
    open.shift()?.end(error);
    await settled();
  };
  return { lookAt: createLookAt({ ask, logger, ...options }), asked, open, endFirst, logger };
}

test('a hint is asked for at once', () => {
  const { lookAt, asked } = looks();
  lookAt('a');
  expect(asked).toEqual(['a']);
});

test('many hints at one intent while it is asked for lead to one more question, after the first', async () => {
  const { lookAt, asked, endFirst } = looks();
  for (let n = 0; n < 10; n += 1) lookAt('a');
  expect(asked).toEqual(['a']);
  await endFirst();
  expect(asked).toEqual(['a', 'a']);
  await endFirst();
  expect(asked).toEqual(['a', 'a']);
  lookAt('a');
  expect(asked).toEqual(['a', 'a', 'a']);
});

test('only so many are asked for at once, the others in their order', async () => {
  const { lookAt, asked, open, endFirst } = looks({ concurrency: 2 });
  for (const id of ['a', 'b', 'c', 'd', 'c']) lookAt(id);
  expect(asked).toEqual(['a', 'b']);
  await endFirst();
  expect(asked).toEqual(['a', 'b', 'c']);
  expect(open).toHaveLength(2);
  await endFirst();
  await endFirst();
  await endFirst();
  expect(asked).toEqual(['a', 'b', 'c', 'd']);
  expect(open).toHaveLength(0);
});

test('by default four at once, and a thousand wait', async () => {
  const { lookAt, asked, open, endFirst } = looks();
  for (let n = 0; n < 2_000; n += 1) lookAt(`intent ${n}`);
  expect(asked).toHaveLength(4);
  while (open.length > 0) await endFirst();
  expect(asked).toHaveLength(1_004);
});

test('one that fails is told to the log, and the next is asked for', async () => {
  const { lookAt, asked, endFirst, logger } = looks({ concurrency: 1 });
  lookAt('a');
  lookAt('b');
  await endFirst(new Error('no line'));
  expect(asked).toEqual(['a', 'b']);
  expect(logger.lines).toEqual([expect.stringContaining('the status of a could not be asked for')]);
  expect(logger.text).toContain('no line');
});
