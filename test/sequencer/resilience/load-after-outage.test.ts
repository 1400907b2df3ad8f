import { jest } from '@jest/globals';
import { resilientTransport } from '../../../src/sequencer/resilience/resilient-transport.js';
import { operations } from '../../../src/wire/envelope.js';
import {
  failing,
  failingWithStatus,
  ok,
  type Play,
  playingTransport,
  slow,
  stalling,
} from '../../support/transports/playing-transport.js';

/** A call every 10 ms for 10 s; from the third second to the sixth the service fails. */
const [calls, everyMs, outageFromMs, outageToMs] = [1_000, 10, 2_000, 6_000];

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe.each<[string, Play]>([
  ['refuses connections', failing('sequencer_unreachable')],
  ['answers 503', failingWithStatus(503)],
  ['answers 500', failingWithStatus(500)],
  ['stalls', stalling],
  ['fails every other call', (call) => (call.n % 2 === 0 ? ok(call) : failing('sequencer_unreachable')(call))],
])('1,000 calls, steadily, to a service that %s for four seconds', (name, fault) => {
  let inner: ReturnType<typeof playingTransport>;
  let answered: { begunAtMs: number; code: string }[];

  beforeEach(async () => {
    const begunAtMs = performance.now();
    const now = (): number => performance.now() - begunAtMs;
    inner = playingTransport((call) => (now() >= outageFromMs && now() < outageToMs ? fault(call) : slow(5)(call)));
    const transport = resilientTransport(inner, { timeoutMs: 3_000, attemptTimeoutMs: 1_000 });
    answered = [];
    for (let n = 0; n < calls; n += 1) {
      const begun = now();
      transport.call(operations.getStatus, Uint8Array.of(1)).then(
        () => answered.push({ begunAtMs: begun, code: 'ok' }),
        (error) => answered.push({ begunAtMs: begun, code: error.code }),
      );
      await jest.advanceTimersByTimeAsync(everyMs);
    }
    await jest.advanceTimersByTimeAsync(20_000);
  });

  /** The upstream calls within an interval. */
  const upstream = (fromMs: number, toMs: number): number =>
    inner.calls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length;

  it('cause at most 1.2 times the load, in total and within each second', () => {
    expect(answered).toHaveLength(calls);
    expect(inner.calls.length).toBeLessThanOrEqual(1.2 * calls);
    for (let second = 0; second < 10; second += 1) {
      // The retry budget of one more second may have accumulated.
      expect(upstream(second * 1_000, (second + 1) * 1_000)).toBeLessThanOrEqual(1.2 * 100 + 10);
    }
  });

  it('are not sent during a complete outage', () => {
    if (name === 'fails every other call') return expect(upstream(2_000, 6_000)).toBeGreaterThan(400);
    // Calls that were sent before the fifth failure: one more stalled call for every 10 ms of the timeout.
    expect(upstream(outageFromMs, outageToMs)).toBeLessThanOrEqual(name === 'stalls' ? 125 : 12);
  });

  it('succeed again at most 2 s after the last probe failed, after a single probe', () => {
    const last = answered.filter(({ begunAtMs }) => begunAtMs >= 8_600);
    expect(last).toHaveLength(140);
    expect(last.filter(({ code }) => code !== 'ok')).toEqual([]);
    if (name === 'fails every other call') return;
    const [probe, next] = inner.calls.filter(({ atMs }) => atMs >= outageToMs);
    // The probe takes 5 ms; nothing else is sent before it is answered.
    expect((next?.atMs ?? 0) - (probe?.atMs ?? 0)).toBeGreaterThanOrEqual(5);
  });

  it('fail at once while the circuit is open', () => {
    const codes = new Set(answered.map(({ code }) => code));
    if (name !== 'fails every other call') expect(codes).toContain('sequencer_unavailable');
    for (const code of codes) expect(code).toMatch(/^ok$|^sequencer_/);
  });
});
