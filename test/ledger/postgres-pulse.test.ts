import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { PostgresPulse } from '../../src/ledger/database/postgres/liveness-monitor.js';
import { eventually } from '../support/eventually.js';

/** A database that answers a probe as it is told. */
function pulseOf(probeWith: () => Promise<void>) {
  const seen = { probes: 0, silences: 0 };
  const pulse = new PostgresPulse({
    quietMs: 40,
    againMs: 5,
    probe: () => {
      seen.probes += 1;
      return probeWith();
    },
    onSilence: () => {
      seen.silences += 1;
    },
  });
  return { pulse, seen };
}

afterEach(() => void jest.useRealTimers());

const never = () => new Promise<never>(() => undefined);
const nothing = async (): Promise<void> => {
  throw new Error('timeout expired');
};

test('a database that is gone without a word is found out once, and nobody waits for it until it answers', async () => {
  let isThere = false;
  const { pulse, seen } = pulseOf(() => (isThere ? Promise.resolve() : nothing()));
  void pulse.follow(never);
  pulse.requireAnswer();
  await eventually(() => seen.silences === 1);
  expect(() => pulse.requireAnswer()).toThrow(/has not answered for 0 s: timeout expired\. Start the database/);
  const { probes } = seen;
  await eventually(() => seen.probes > probes + 2);
  expect(seen.silences).toBe(1);
  isThere = true;
  await eventually(() => {
    try {
      pulse.requireAnswer();
      return true;
    } catch {
      return false;
    }
  });
  pulse.close();
});

test('a statement that takes long at a database that is there is waited for', async () => {
  const { pulse, seen } = pulseOf(async () => undefined);
  await pulse.follow(() => eventually('it is probed again', () => seen.probes > 1));
  expect(seen.silences).toBe(0);
  pulse.close();
});

test('a database that says no is there', async () => {
  const { pulse, seen } = pulseOf(async () => {
    throw Object.assign(new Error('too many clients'), { code: '53300' });
  });
  await pulse.follow(() => eventually('it is probed', () => seen.probes > 0));
  expect(seen.silences).toBe(0);
  pulse.close();
});

test('as long as others are answered nothing is asked', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const { pulse, seen } = pulseOf(nothing);
  void pulse.follow(never);
  for (let turn = 0; turn < 30; turn += 1) {
    await pulse.follow(async () => undefined);
    await jest.advanceTimersByTimeAsync(5);
  }
  expect(seen.probes).toBe(0);
  await jest.advanceTimersByTimeAsync(100);
  expect(seen.probes).toBeGreaterThan(0);
  pulse.close();
});

test('where nobody waits nothing is asked', async () => {
  const { pulse, seen } = pulseOf(nothing);
  await pulse.follow(async () => undefined);
  await wait(120);
  expect(seen.probes).toBe(0);
  pulse.close();
});
