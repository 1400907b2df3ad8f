import { Backoff, exponentialBackoffMs, jitteredMs } from '../../src/async/backoff.js';

test('delays double up to the cap', () => {
  const delays = [0, 1, 2, 3, 4].map((retry) => exponentialBackoffMs({ firstMs: 100, capMs: 700 }, retry));
  expect(delays).toEqual([100, 200, 400, 700, 700]);
  expect(exponentialBackoffMs({ firstMs: 100, factor: 1.5 }, 2)).toBe(225);
});

test('jitter shortens a delay by at most its random part', () => {
  expect([0, 0.5].map((random) => jitteredMs(100, 1, () => random))).toEqual([0, 50]);
  expect([0, 0.5].map((random) => jitteredMs(100, 0.5, () => random))).toEqual([50, 75]);
});

test('a backoff restarts after a success, and never retries at once', () => {
  const backoff = new Backoff({ firstMs: 200, capMs: 10_000, random: () => 0.5 });
  expect([backoff.nextMs(), backoff.nextMs()]).toEqual([100, 200]);
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
  expect(new Backoff({ firstMs: 200, random: () => 0 }).nextMs()).toBe(50);
});
