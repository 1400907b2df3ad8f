import { HookLanes, type Lane } from '../../../src/ledger/settlement/hook-lanes.js';

/** Hooks that the test ends. */
class Hooks {
  readonly lanes: HookLanes;
  readonly running: string[] = [];
  readonly #ends = new Map<string, (error?: Error) => void>();

  constructor(places: number) {
    this.lanes = new HookLanes(places);
  }

  start(lane: Lane | 'verify', name: string, signal = new AbortController().signal): Promise<string> {
    return this.lanes.run(lane, signal, async () => {
      this.running.push(name);
      await new Promise<void>((resolve, reject) => {
        this.#ends.set(name, (error) => (error ? reject(error) : resolve()));
      });
      return name;
    });
  }

  async end(name: string, error?: Error): Promise<void> {
    this.running.splice(this.running.indexOf(name), 1);
    this.#ends.get(name)?.(error);
    await nextTurn();
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('first calls use all places in the order of arrival, also after one that failed', async () => {
  const hooks = new Hooks(2);
  const calls = ['a', 'b', 'c', 'd'].map((name) => hooks.start('first', name));
  await nextTurn();
  expect(hooks.running).toEqual(['a', 'b']);
  const failed = expect(calls[1]).rejects.toThrow('no');
  await hooks.end('b', new Error('no'));
  await failed;
  expect(hooks.running).toEqual(['a', 'c']);
  for (const name of ['a', 'c', 'd']) await hooks.end(name);
  expect(await Promise.all([calls[0], calls[2], calls[3]])).toEqual(['a', 'c', 'd']);
});

test('retries use at most half of the places, which leaves one for a first call', async () => {
  const hooks = new Hooks(6);
  for (let n = 0; n < 12; n += 1) void hooks.start('retry', `retry ${n}`);
  void hooks.start('first', 'first');
  await nextTurn();
  expect(hooks.running).toEqual(['retry 0', 'retry 1', 'retry 2', 'first']);
});

test('slow hooks run one at a time, in addition to all other places', async () => {
  const hooks = new Hooks(2);
  for (const name of ['slow 1', 'slow 2']) void hooks.start('slow', name);
  for (const name of ['a', 'b', 'c']) void hooks.start('first', name);
  await nextTurn();
  expect(hooks.running).toEqual(['slow 1', 'a', 'b']);
  await hooks.end('slow 1');
  expect(hooks.running).toEqual(['a', 'b', 'slow 2']);
});

test('a quarantined hook runs when no other hook does, and no other starts meanwhile', async () => {
  const hooks = new Hooks(6);
  void hooks.start('first', 'before');
  void hooks.start('verify', 'verify before');
  void hooks.start('quarantine', 'quarantined 1');
  void hooks.start('quarantine', 'quarantined 2');
  for (const lane of ['first', 'retry', 'slow', 'verify'] as const) void hooks.start(lane, lane);
  await nextTurn();
  expect(hooks.running).toEqual(['before', 'verify before']);
  await hooks.end('before');
  await hooks.end('verify before');
  expect(hooks.running).toEqual(['quarantined 1']);
  await hooks.end('quarantined 1');
  expect(hooks.running).toEqual(['quarantined 2']);
  await hooks.end('quarantined 2');
  expect(hooks.running).toEqual(['first', 'retry', 'slow', 'verify']);
});

test('first calls continue while a quarantined hook waits for a slow one', async () => {
  const hooks = new Hooks(6);
  void hooks.start('slow', 'slow');
  void hooks.start('quarantine', 'quarantined');
  void hooks.start('first', 'first');
  void hooks.start('retry', 'retry');
  await nextTurn();
  expect(hooks.running).toEqual(['slow', 'first']);
  await hooks.end('first');
  await hooks.end('slow');
  expect(hooks.running).toEqual(['quarantined']);
});

test('a hook whose claim ends while it waits does not start, and blocks no other', async () => {
  const hooks = new Hooks(1);
  const lost = new AbortController();
  void hooks.start('first', 'first');
  const waiting = hooks.start('quarantine', 'quarantined', lost.signal);
  void hooks.start('first', 'second');
  await hooks.end('first');
  expect(hooks.running).toEqual(['quarantined']);
  const another = hooks.start('first', 'third', lost.signal);
  const rejected = expect(another).rejects.toThrow('lost');
  lost.abort(new Error('lost'));
  await rejected;
  await hooks.end('quarantined');
  expect(await waiting).toBe('quarantined');
  expect(hooks.running).toEqual(['second']);
  await expect(hooks.start('first', 'fourth', lost.signal)).rejects.toThrow('lost');
});

test('firstCallWaitMs is the wait of first calls, and ignores other lanes', async () => {
  const hooks = new Hooks(1);
  void hooks.start('first', 'first');
  void hooks.start('retry', 'retry');
  await nextTurn();
  expect(hooks.lanes.firstCallWaitMs).toBe(0);
  void hooks.start('first', 'second');
  await nextTurn();
  expect(hooks.lanes.firstCallWaitMs).toBeGreaterThan(0);
  await hooks.end('first');
  await hooks.end('retry');
  expect(hooks.lanes.firstCallWaitMs).toBe(0);
});
