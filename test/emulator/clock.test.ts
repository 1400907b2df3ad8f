import { createClock } from '../../src/emulator/state/clock.js';
import { startedAtMs } from './fixture.js';

test('a clock goes as the one it goes by, and is put forward', () => {
  let timeMs = startedAtMs;
  const { now, advance } = createClock(() => timeMs);
  expect(now()).toBe(startedAtMs);
  advance(60_000);
  advance(0.5);
  timeMs += 1;
  expect(now()).toBe(startedAtMs + 60_001.5);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('it does not go by %d', (ms) => {
  const clock = createClock(() => startedAtMs);
  expect(() => clock.advance(ms)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  expect(clock.now()).toBe(startedAtMs);
});

test('it goes by the system clock where nothing is said', () => {
  const before = Date.now();
  expect(createClock().now()).toBeGreaterThanOrEqual(before);
});
