import {
  defaultTiming,
  untilNextPollMs,
  untilReversalPollMs,
} from '../../../src/ledger/settlement/settlement-timing.js';

const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each([
  [0, 2 * secondMs],
  [8 * secondMs, 2 * secondMs],
  [minuteMs, 15 * secondMs],
  [hourMs, 15 * minuteMs],
  [4 * dayMs, dayMs],
  [29 * dayMs, dayMs],
])('an unpaid intent of age %d ms is polled again after %d ms', (ageMs, pauseMs) => {
  expect(untilNextPollMs(ageMs, defaultTiming)).toBe(pauseMs);
});

test.each([
  [0, minuteMs],
  [minuteMs, minuteMs],
  [16 * hourMs, 16 * hourMs],
  [dayMs - 1, dayMs - 1],
  [dayMs, undefined],
])('a payment that settled %d ms ago is polled for a reversal after %p ms', (agoMs, pauseMs) => {
  expect(untilReversalPollMs(agoMs, dayMs, defaultTiming)).toBe(pauseMs);
});
