import { Semaphore } from '../../src/async/semaphore.js';

const wait = { timeoutMs: 1_000, timeoutError: () => new Error('too late') };

test('a semaphore grants its permits at once, and further ones in the order of arrival', async () => {
  const semaphore = new Semaphore(2);
  expect([semaphore.acquire(wait), semaphore.acquire(wait)]).toEqual([undefined, undefined]);
  const entered: string[] = [];
  const turns = ['a', 'b'].map((name) => semaphore.acquire(wait)?.then(() => entered.push(name)));
  expect([semaphore.held, semaphore.waiting]).toEqual([2, 2]);
  semaphore.release();
  await turns[0];
  expect([entered, semaphore.held, semaphore.waiting]).toEqual([['a'], 2, 1]);
  semaphore.release();
  await turns[1];
  semaphore.release();
  semaphore.release();
  expect([entered, semaphore.held, semaphore.isExhausted]).toEqual([['a', 'b'], 0, false]);
});

test('a new caller does not overtake the queue while a permit is passed on', async () => {
  const semaphore = new Semaphore(1);
  semaphore.acquire(wait);
  const turn = semaphore.acquire(wait);
  semaphore.release();
  const newcomer = semaphore.acquire(wait);
  expect(newcomer).toBeInstanceOf(Promise);
  await turn;
  semaphore.release();
  await newcomer;
});

test('a caller leaves the queue by timeout or abort, and its place passes to the next', async () => {
  const semaphore = new Semaphore(1);
  semaphore.acquire(wait);
  const late = semaphore.acquire({ ...wait, timeoutMs: 1 });
  const aborted = new AbortController();
  const leaving = semaphore.acquire({ ...wait, signals: [undefined, aborted.signal] });
  const next = semaphore.acquire(wait);
  aborted.abort('left');
  await expect(leaving).rejects.toBe('left');
  await expect(late).rejects.toThrow('too late');
  expect(semaphore.waiting).toBe(1);
  semaphore.release();
  await next;
});

test('run releases the permit also after a failure', async () => {
  const semaphore = new Semaphore(1);
  const failing = semaphore.run(wait, () => Promise.reject(new Error('failed')));
  const second = semaphore.run(wait, async () => 'done');
  await expect(failing).rejects.toThrow('failed');
  expect(await second).toBe('done');
  expect(semaphore.held).toBe(0);
});
