import { jest } from '@jest/globals';
import { LivenessMonitor } from '../../../../src/ledger/database/postgres/liveness-monitor.js';
import { eventually } from '../../../support/eventually.js';

/** A monitor whose database answers probes as the test sets. */
function monitorOf(probeWith: () => Promise<void>) {
  const seen = { probes: 0, silences: 0 };
  const monitor = new LivenessMonitor({
    quietMs: 40,
    retryMs: 5,
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
const timeout = async (): Promise<void> => {
  throw new Error('timeout expired');
};

test('a database that stops responding is detected once, and rejects calls until it responds again', async () => {
  let isUp = false;
  const { monitor, seen } = monitorOf(() => (isUp ? Promise.resolve() : timeout()));
  const startedMs = performance.now();
  const now = jest.spyOn(performance, 'now').mockReturnValue(startedMs);
  void monitor.track(never);
  monitor.throwIfSilent();
  now.mockReturnValue(startedMs + 5_000);
  await eventually(() => seen.silences === 1);
  expect(() => monitor.throwIfSilent()).toThrow(/has not answered for 5 s: timeout expired\. Start the database/);
  now.mockRestore();
  const { probes } = seen;
  await eventually(() => seen.probes > probes + 2);
  expect(seen.silences).toBe(1);
  isUp = true;
  await eventually(() => {
    try {
      monitor.throwIfSilent();
      return true;
    } catch {
      return false;
    }
  });
  monitor.close();
});

test('a slow statement on a database that responds is not interrupted', async () => {
  const { monitor, seen } = monitorOf(async () => undefined);
  await monitor.track(() => eventually('it is probed again', () => seen.probes > 1));
  expect(seen.silences).toBe(0);
  monitor.close();
});

test('a database that rejects the probe counts as responding', async () => {
  const { monitor, seen } = monitorOf(async () => {
    throw Object.assign(new Error('too many clients'), { code: '53300' });
  });
  await monitor.track(() => eventually('it is probed', () => seen.probes > 0));
  expect(seen.silences).toBe(0);
  monitor.close();
});

test('no probe is sent while other calls are answered', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const { monitor, seen } = monitorOf(timeout);
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
