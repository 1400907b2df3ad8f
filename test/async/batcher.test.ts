import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Batcher, type BatcherOptions, type BatchFailure } from '../../src/async/batcher.js';

const defaults: Omit<BatcherOptions<number, string>, 'run'> = {
  classifyFailure: (error) => error as BatchFailure,
  maxItems: 3,
  maxRunning: 1,
  timeoutMs: 60_000,
  timeoutError: () => 'timeout',
};

const resultsOf = (items: readonly number[]): string[] => items.map((item) => `result ${item}`);

/** A batcher, and its batches: each ends when the test ends it. An error is a failure of this class. */
function heldBatcher(options: Partial<BatcherOptions<number, string>> = {}) {
  const batches: { items: readonly number[]; end: (failure?: BatchFailure) => void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({ items, end: (failure) => (failure ? reject(failure) : resolve(resultsOf(items))) });
    });
  const batcher = new Batcher<number, string>({ ...defaults, run, ...options });
  /** The items of all batches so far. */
  const started = async () => {
    // A batch that ends in one turn starts the next batch in the following one.
    await nextTurn();
    await nextTurn();
    return batches.map(({ items }) => items);
  };
  return { batcher, batches, started };
}

/** Stops the clock of the batchers. @returns a function that advances it */
function stopClock(): (ms: number) => void {
  let nowMs = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  return (ms) => {
    nowMs += ms;
  };
}

/** For each item its result, or the error in brackets. */
const outcomesOf = async (all: readonly Promise<string>[]) =>
  (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? one.value : `[${one.reason}]`));

describe('Batcher', () => {
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

  test('after two outages in sequence rejects the queue too, and processes later items', async () => {
    const { batcher, batches, started } = heldBatcher();
    const outcomes = outcomesOf([1, 2, 3, 4, 5, 6, 7, 8].map((item) => batcher.add(item)));
    await started();
    batches[0]?.end('outage');
    expect(await started()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    batches[1]?.end('outage');
    expect(await outcomes).toEqual(Array(8).fill('[outage]'));
    const later = outcomesOf([9, 10, 11, 12].map((item) => batcher.add(item)));
    expect((await started()).slice(2)).toEqual([[9, 10, 11]]);
    batches[2]?.end('batch');
    expect((await started()).slice(3)).toEqual([[12]]);
    batches[3]?.end();
    expect(await later).toEqual(['[batch]', '[batch]', '[batch]', 'result 12']);
  });

  test('splits a batch after an error of one item, until it finds that item', async () => {
    const batches: (readonly number[])[] = [];
    const run = async (items: readonly number[]) => {
      batches.push(items);
      if (items.includes(6)) throw 'item';
      return resultsOf(items);
    };
    const { batcher } = heldBatcher({ run, maxItems: 8 });
    const all = [1, 2, 3, 4, 5, 6, 7, 8].map((item) => batcher.add(item));
    expect(await outcomesOf(all)).toEqual(resultsOf([1, 2, 3, 4, 5]).concat('[item]', resultsOf([7, 8])));
    expect(batches).toHaveLength(7);
  });

  test('stops to split a batch when all of it fails', async () => {
    let runs = 0;
    const run = async () => {
      runs += 1;
      throw runs === 1 ? 'item' : 'outage';
    };
    const { batcher } = heldBatcher({ run, maxItems: 8 });
    const all = [1, 2, 3, 4, 5, 6, 7, 8].map((item) => batcher.add(item));
    expect(await outcomesOf(all)).toEqual(Array(8).fill('[outage]'));
    expect(runs).toBe(2);
  });

  test('rejects items that have waited longer than timeoutMs when a batch ends', async () => {
    const pass = stopClock();
    const { batcher, batches, started } = heldBatcher({ timeoutMs: 5 });
    const all = [1, 2, 3, 4].map((item) => batcher.add(item));
    expect(await started()).toEqual([[1, 2, 3]]);
    pass(6);
    batches[0]?.end();
    expect(await outcomesOf(all)).toEqual([...resultsOf([1, 2, 3]), '[timeout]']);
  });

  test('runs no batch in the async context of a caller', async () => {
    const request = new AsyncLocalStorage<string>();
    const contexts: unknown[] = [];
    const run = async (items: readonly number[]) => {
      contexts.push(request.getStore());
      return resultsOf(items);
    };
    const { batcher } = heldBatcher({ run });
    const own = await request.run('a request', async () => {
      await batcher.add(1);
      return request.getStore();
    });
    expect([contexts, own]).toEqual([[undefined], 'a request']);
  });
});
