import { CachedProbe } from '../../../src/http/operations/cached-probe.js';

describe('CachedProbe', () => {
  test('runs once for concurrent callers, and again after the outcome has expired', async () => {
    let runs = 0;
    const probe = new CachedProbe({ run: async () => ++runs, ttlMs: 0, timeoutMs: 60_000 });
    expect(await Promise.all([probe.get(), probe.get()])).toEqual([{ value: 1 }, { value: 1 }]);
    expect(await probe.get()).toEqual({ value: 2 });
  });

  test('runs again after a failure', async () => {
    const errors = [new Error('first'), new Error('second')];
    const run = async () => {
      throw errors.shift();
    };
    const probe = new CachedProbe({ run, ttlMs: 0, timeoutMs: 60_000 });
    expect([await probe.get(), await probe.get()]).toEqual([
      { error: expect.objectContaining({ message: 'first' }) },
      { error: expect.objectContaining({ message: 'second' }) },
    ]);
  });

  test('keeps a fresh outcome', async () => {
    let runs = 0;
    const probe = new CachedProbe({ run: async () => ++runs, ttlMs: 60_000, timeoutMs: 60_000 });
    expect([await probe.get(), await probe.get()]).toEqual([{ value: 1 }, { value: 1 }]);
  });

  test('answers a timeout while the probe continues, and then its outcome', async () => {
    let complete: (value: string) => void = () => undefined;
    const run = () =>
      new Promise<string>((resolve) => {
        complete = resolve;
      });
    const probe = new CachedProbe({ run, ttlMs: 60_000, timeoutMs: 1 });
    expect(await probe.get()).toBe('timeout');
    complete('late');
    await new Promise(setImmediate);
    expect(await probe.get()).toEqual({ value: 'late' });
  });
});
