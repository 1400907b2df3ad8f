import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { LivenessMonitor } from '../../../../src/ledger/database/postgres/liveness-monitor.js';
import { eventually } from '../../../support/eventually.js';

/** A database that answers a probe as it is told. */
function monitorOf(probeWith: () => Promise<void>) {
  const seen = { probes: 0, silences: 0 };
  const monitor = new LivenessMonitor({
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
  return { monitor, seen };
}

afterEach(() => void jest.useRealTimers());

const never = () => new Promise<never>(() => undefined);
const nothing = async (): Promise<void> => {
  throw new Error('timeout expired');
};

test('a database that stops responding is detected once, and no call waits for it until it answers', async () => {
  let isThere = false;
  const { monitor, seen } = monitorOf(() => (isThere ? Promise.resolve() : nothing()));
  void monitor.track(never);
  monitor.requireAnswer();
  await eventually(() => seen.silences === 1);
  expect(() => monitor.requireAnswer()).toThrow(/has not answered for 0 s: timeout expired\. Start the database/);
  const { probes } = seen;
  await eventually(() => seen.probes > probes + 2);
  expect(seen.silences).toBe(1);
  isThere = true;
  await eventually(() => {
    try {
      monitor.requireAnswer();
      return true;
    } catch {
      return false;
    }
  });
  monitor.close();
});

test('a statement that takes long at a database that is there is waited for', async () => {
  const { monitor, seen } = monitorOf(async () => undefined);
  await monitor.track(() => eventually('it is probed again', () => seen.probes > 1));
  expect(seen.silences).toBe(0);
  monitor.close();
});

test('a database that says no is there', async () => {
  const { monitor, seen } = monitorOf(async () => {
    throw Object.assign(new Error('too many clients'), { code: '53300' });
  });
  await monitor.track(() => eventually('it is probed', () => seen.probes > 0));
  expect(seen.silences).toBe(0);
  monitor.close();
});

test('as long as others are answered nothing is asked', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const { monitor, seen } = monitorOf(nothing);
  void monitor.track(never);
  for (let turn = 0; turn < 30; turn += 1) {
    await monitor.track(async () => undefined);
    await jest.advanceTimersByTimeAsync(5);
  }
  expect(seen.probes).toBe(0);
  await jest.advanceTimersByTimeAsync(100);
  expect(seen.probes).toBeGreaterThan(0);
  monitor.close();
});

test('where nobody waits nothing is asked', async () => {
  const { monitor, seen } = monitorOf(nothing);
  await monitor.track(async () => undefined);
  await wait(120);
  expect(seen.probes).toBe(0);
  monitor.close();
});
