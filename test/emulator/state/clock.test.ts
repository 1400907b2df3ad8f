import { createClock } from '../../../src/emulator/state/clock.js';
import { startedAtMs } from '../fixture.js';

test('a clock follows the underlying clock and can be advanced', () => {
  let timeMs = startedAtMs;
  const { now, advance } = createClock(() => timeMs);
  expect(now()).toBe(startedAtMs);
  advance(60_000);
  advance(0.5);
  timeMs += 1;
  expect(now()).toBe(startedAtMs + 60_001.5);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('advance(%d) throws', (ms) => {
  const clock = createClock(() => startedAtMs);
  expect(() => clock.advance(ms)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  expect(clock.now()).toBe(startedAtMs);
});

test('the default is the system clock', () => {
  const before = Date.now();
  expect(createClock().now()).toBeGreaterThanOrEqual(before);
});
