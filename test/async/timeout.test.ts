import { LightAbortController } from '../../src/async/abort.js';
import { isTimerDelay, maxTimerMs, withAbort, withTimeout } from '../../src/async/timeout.js';

const never = (): Promise<never> => new Promise(() => undefined);

describe('withTimeout', () => {
  test('rejects with a TimeoutError or the given error, and aborts the signal of the work with it', async () => {
    const signals: AbortSignal[] = [];
    const work = (signal: AbortSignal): Promise<never> => {
      signals.push(signal);
      return never();
    };
    await expect(withTimeout(1, work)).rejects.toMatchObject({ name: 'TimeoutError' });
    const error = new Error('too slow');
    await expect(withTimeout(1, work, { error: () => error, ref: true })).rejects.toBe(error);
    expect(signals.map(({ reason }) => reason)).toEqual([expect.objectContaining({ name: 'TimeoutError' }), error]);
  });

  test('rejects with the reason of its signal, and does not start work after an abort', async () => {
    const abort = new LightAbortController();
    const ended = withTimeout(1_000, never, { signal: abort });
    abort.abort('left');
    await expect(ended).rejects.toBe('left');
    let started = false;
    const late = withTimeout(1_000, () => (started = true), { signal: abort });
    await expect(late).rejects.toBe('left');
    expect(started).toBe(false);
  });
});

test('withAbort waits until the abort, and no longer', async () => {
  const abort = new LightAbortController();
  expect(await withAbort(abort, () => 'done')).toBe('done');
  const ended = withAbort(abort, never);
  abort.abort('left');
  await expect(ended).rejects.toBe('left');
  await expect(withAbort(abort, () => 'done')).rejects.toBe('left');
});

test('a timer supports whole delays from 1 to 2^31 - 1 ms', () => {
  expect([1, maxTimerMs].every(isTimerDelay)).toBe(true);
  expect([0, -1, 1.5, maxTimerMs + 1, Number.NaN, Number.POSITIVE_INFINITY].some(isTimerDelay)).toBe(false);
});
