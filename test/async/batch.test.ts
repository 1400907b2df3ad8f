import { setImmediate as nextTurn } from 'node:timers/promises';
import { Batcher, type BatchOptions } from '../../src/async/batch.js';

/** A batcher of numbers, and its batches: each ends when the test ends it. */
function heldBatcher(options: Partial<BatchOptions<number, string>> = {}) {
  const batches: { items: readonly number[]; end: (error?: unknown) => void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<string[]>((resolve, reject) => {
      const results = items.map((item) => `result ${item}`);
      batches.push({ items, end: (error) => (error === undefined ? resolve(results) : reject(error)) });
    });
  const batcher = new Batcher<number, string>({
    run,
    isFaultOfItem: (error) => error === 'item',
    maxItems: 3,
    maxRunning: 1,
    ...options,
  });
  /** The items of all batches so far. */
  const started = async () => {
    // A batch that ends in one turn starts the next batch in the following one.
    await nextTurn();
    await nextTurn();
    return batches.map(({ items }) => items);
  };
  return { batcher, batches, started };
}

describe('Batcher', () => {
  test('processes the items of one turn together, and returns to each caller its own result', async () => {
    const { batcher, batches, started } = heldBatcher();
    const all = [1, 2, 3].map((item) => batcher.add(item));
    expect(await started()).toEqual([[1, 2, 3]]);
    batches[0]?.end();
    expect(await Promise.all(all)).toEqual(['result 1', 'result 2', 'result 3']);
  });

  test('processes items that arrive during a batch in the next one', async () => {
    const { batcher, batches, started } = heldBatcher();
    void batcher.add(1);
    expect(await started()).toEqual([[1]]);
    void batcher.add(2);
    void batcher.add(3);
    expect(await started()).toEqual([[1]]);
    batches[0]?.end();
    expect(await started()).toEqual([[1], [2, 3]]);
  });

  test('has at most maxItems in a batch, and at most maxRunning batches', async () => {
    const { batcher, batches, started } = heldBatcher({ maxRunning: 2 });
    for (let item = 1; item <= 8; item += 1) void batcher.add(item);
    expect(await started()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    batches[1]?.end();
    expect((await started()).slice(2)).toEqual([[7, 8]]);
  });

  test('rejects all items of a batch that fails, and processes the next one', async () => {
    const { batcher, batches, started } = heldBatcher();
    const all = [1, 2, 3, 4].map((item) => batcher.add(item));
    const settled = Promise.allSettled(all.slice(0, 3));
    await started();
    batches[0]?.end('outage');
    expect((await settled).map((result) => result.status === 'rejected' && result.reason)).toEqual(
      Array(3).fill('outage'),
    );
    expect(await started()).toEqual([[1, 2, 3], [4]]);
    batches[1]?.end();
    expect(await all[3]).toBe('result 4');
  });

  test('processes each item alone after an error that one of them may have caused', async () => {
    const run = async (items: readonly number[]) => {
      if (items.includes(2)) throw 'item';
      return items.map((item) => `result ${item}`);
    };
    const { batcher } = heldBatcher({ run });
    const settled = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 'result 1' },
      { status: 'rejected', reason: 'item' },
      { status: 'fulfilled', value: 'result 3' },
    ]);
  });
});
