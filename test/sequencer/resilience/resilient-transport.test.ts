import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import { type IntentError, SequencerError } from '../../../src/errors.js';
import {
  type ResilienceOptions,
  type ResilientTransport,
  resilientTransport,
} from '../../../src/sequencer/resilience/resilient-transport.js';
import type { CallOptions } from '../../../src/sequencer/transport.js';
import { emptyEnvelope, type Operation, operations } from '../../../src/wire/envelope.js';
import {
  answer,
  failing,
  failingWithStatus,
  inTurn,
  ok,
  type Play,
  type PlayingTransport,
  playingTransport,
  slow,
  stalling,
} from '../../support/transports/playing-transport.js';

const body = Uint8Array.of(1, 2, 3);
const { createIntent, getStatus, getLoginForThirdPartyApp, loginToThirdPartyApp } = operations;

let inner: PlayingTransport;
let transport: ResilientTransport;

/** Delays are half of their maximum: 50 ms, then 100 ms. */
function wrap(play: Play, options: Partial<ResilienceOptions> = {}): void {
  inner = playingTransport(play);
  transport = resilientTransport(inner, { timeoutMs: 8_000, attemptTimeoutMs: 3_000, random: () => 0.5, ...options });
}

type Outcome = IntentError & { answer?: Uint8Array };

/** Calls, and advances the clock until the call has ended. @returns the error, or an object with the response */
async function outcome(operation: Operation = getStatus, options?: CallOptions): Promise<Outcome> {
  const ended = transport.call(operation, body, options).then(
    (given) => ({ answer: given }) as Outcome,
    (error) => error as Outcome,
  );
  await jest.advanceTimersByTimeAsync(20_000);
  return ended;
}

/** Starts a call and does not wait for its end. */
function begin(operation: Operation = getStatus, options?: CallOptions): { code: string | undefined; done: boolean } {
  const call = { code: undefined as string | undefined, done: false };
  transport.call(operation, body, options).then(
    () => Object.assign(call, { code: 'ok', done: true }),
    (error) => Object.assign(call, { code: error.code ?? String(error), done: true }),
  );
  return call;
}

const times = (): number[] => inner.calls.map(({ atMs }) => Math.round(atMs));

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('a retry', () => {
  it.each(
    Object.entries(operations).map(([name, operation]) => [
      name,
      operation,
      name === 'loginToThirdPartyApp' || name === 'openMessageStream' ? 1 : 3,
    ]) as [string, Operation, number][],
  )('of %s follows where the operation may be repeated', async (_name, operation, attempts) => {
    wrap(failing('sequencer_unreachable'));
    expect(await outcome(operation)).toMatchObject({ code: 'sequencer_unreachable' });
    expect(inner.calls).toHaveLength(attempts);
  });

  it('that also fails ends the call with the last error, which has the number of attempts', async () => {
    wrap(inTurn(failing('sequencer_unreachable'), failingWithStatus(502), failingWithStatus(503, 250)));
    const error = await outcome();
    expect(error).toBeInstanceOf(SequencerError);
    expect(error).toMatchObject({ code: 'sequencer_bad_status', httpStatus: 503, retryAfterMs: 250 });
    expect(error.message).toBe('It is sequencer_bad_status. Tried 3 times in 150 ms.');
    // The cause of the attempt, not the attempt's own error, which has the same message.
    expect(error.cause).toBeUndefined();
  });
});

describe('Retry-After', () => {
  it('delays the retry, in addition to its own delay', async () => {
    wrap(inTurn(failingWithStatus(503, 2_000), failingWithStatus(429, 1_000), ok));
    expect(await outcome()).toEqual({ answer });
    expect(times()).toEqual([0, 2_050, 3_150]);
  });

  it('over 5 s, or over the remaining time, is returned with the error instead', async () => {
    wrap(failingWithStatus(503, 5_001), { timeoutMs: 60_000 });
    expect(await outcome()).toMatchObject({ retryAfterMs: 5_001 });
    expect(inner.calls).toHaveLength(1);
    wrap(failingWithStatus(503, 5_000), { timeoutMs: 4_000 });
    expect(await outcome()).toMatchObject({ retryAfterMs: 5_000 });
    expect(inner.calls).toHaveLength(1);
    wrap(inTurn(failingWithStatus(503, 5_000), ok));
    expect(await outcome()).toEqual({ answer });
  });
});

describe('the timeout', () => {
  it('limits each attempt and the whole call', async () => {
    wrap(stalling);
    const call = begin();
    await jest.advanceTimersByTimeAsync(7_999);
    expect(call.done).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(call.code).toBe('sequencer_timeout');
    expect(times()).toEqual([0, 3_050]);
  });

  it('gives an attempt after a timeout all that is left, for a sequencer that always takes longer', async () => {
    wrap(slow(3_500));
    expect(await outcome()).toEqual({ answer });
    expect(times()).toEqual([0, 3_050]);
  });

  it('ends a call over a transport that ignores its signal, whose late failure is ignored', async () => {
    wrap(() => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 500)), {
      timeoutMs: 100,
      attemptTimeoutMs: 100,
    });
    const call = begin();
    await jest.advanceTimersByTimeAsync(100);
    expect(call.code).toBe('sequencer_timeout');
    await jest.advanceTimersByTimeAsync(1_000);
  });

  it('includes the time in the queue', async () => {
    wrap(stalling, { maxRunning: 1, timeoutMs: 1_000, attemptTimeoutMs: 700 });
    const [first, second] = [begin(loginToThirdPartyApp), begin(loginToThirdPartyApp)];
    await jest.advanceTimersByTimeAsync(999);
    expect([first.done, second.done]).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(1);
    expect([first.code, second.code]).toEqual(['sequencer_timeout', 'sequencer_timeout']);
  });
});

describe('the queue', () => {
  it('limits running and waiting calls, and rejects others at once', async () => {
    wrap(stalling, { maxRunning: 3, maxWaiting: 2 });
    const calls = Array.from({ length: 7 }, () => begin());
    await jest.advanceTimersByTimeAsync(0);
    expect(inner.calls).toHaveLength(3);
    expect(calls.map(({ code }) => code)).toEqual([...new Array(5).fill(undefined), 'too_busy', 'too_busy']);
    await jest.advanceTimersByTimeAsync(20_000);
  });

  it('that is full rejects with a Retry-After', async () => {
    wrap(stalling, { maxRunning: 1, maxWaiting: 0 });
    begin();
    expect(await outcome()).toMatchObject({ name: 'IntentError', code: 'too_busy', status: 503, retryAfterMs: 1_000 });
  });

  it('passes the place of a call that was aborted to the next one', async () => {
    wrap(slow(1_000), { maxRunning: 1, maxWaiting: 1 });
    const running = begin();
    const controller = new AbortController();
    const leaving = begin(getStatus, { signal: controller.signal });
    expect(begin()).toMatchObject({ done: false });
    await jest.advanceTimersByTimeAsync(0);
    controller.abort('left');
    await jest.advanceTimersByTimeAsync(0);
    expect(leaving.code).toBe('left');
    const next = begin();
    await jest.advanceTimersByTimeAsync(2_000);
    expect([running.code, next.code]).toEqual(['ok', 'ok']);
    expect(inner.calls).toHaveLength(2);
  });
});

describe('the circuit breaker', () => {
  const fault = failingWithStatus(500);

  /** Fails five times, which opens the circuit. */
  async function open(): Promise<void> {
    wrap(fault);
    for (let n = 0; n < 5; n += 1) begin();
    await jest.advanceTimersByTimeAsync(0);
    expect(inner.calls).toHaveLength(5);
  }

  it.each<[string, Play]>([
    ['refusals', failing('sequencer_error')],
    ['answers that cannot be read', failing('sequencer_bad_response')],
    ['HTTP status 404', failingWithStatus(404)],
    ['HTTP status 429', failingWithStatus(429, 60_000)],
  ])('does not open for %s, which reset the count of failures', async (_name, play) => {
    wrap(play);
    for (let n = 0; n < 20; n += 1) {
      begin(loginToThirdPartyApp);
      await jest.advanceTimersByTimeAsync(0);
    }
    expect(inner.calls).toHaveLength(20);
    for (let n = 0; n < 20; n += 1) {
      inner.play(n % 5 === 4 ? play : fault);
      expect((await outcome()).code).not.toBe('sequencer_unavailable');
    }
  });

  it('does not count calls that the caller aborted', async () => {
    wrap(fault);
    for (let n = 0; n < 4; n += 1) await outcome();
    inner.play(stalling);
    for (let n = 0; n < 10; n += 1) {
      const controller = new AbortController();
      begin(getStatus, { signal: controller.signal });
      controller.abort('left');
      await jest.advanceTimersByTimeAsync(0);
    }
    inner.play(fault);
    const calls = [begin(), begin()];
    await jest.advanceTimersByTimeAsync(0);
    expect(calls.map(({ code }) => code)).toEqual(['sequencer_bad_status', 'sequencer_bad_status']);
    const refused = begin();
    await jest.advanceTimersByTimeAsync(0);
    expect(refused.code).toBe('sequencer_unavailable');
  });

  it('counts calls that could not reach the service at the same time as one failure', async () => {
    wrap(async (call) => {
      await slow(10)(call);
      return failing('sequencer_unreachable')(call);
    });
    const calls = Array.from({ length: 50 }, () => begin());
    await jest.advanceTimersByTimeAsync(10);
    inner.play(ok);
    expect((await outcome()).answer).toEqual(answer);
    // The retry budget allows ten retries.
    expect(calls.filter(({ code }) => code === 'ok')).toHaveLength(10);
    expect(new Set(calls.map(({ code }) => code))).toEqual(new Set(['ok', 'sequencer_unreachable']));
  });

  it('is open for twice as long after each probe that fails, at most 2 s, and does not retry the probe', async () => {
    await open();
    inner.play(failingWithStatus(503));
    const probes: ReturnType<typeof begin>[] = [];
    for (const pauseMs of [500, 1_000, 2_000, 2_000]) {
      await jest.advanceTimersByTimeAsync(pauseMs - 1);
      const early = begin();
      await jest.advanceTimersByTimeAsync(1);
      probes.push(begin());
      await jest.advanceTimersByTimeAsync(0);
      expect([early.code, inner.calls.length]).toEqual(['sequencer_unavailable', 5 + probes.length]);
    }
    await jest.advanceTimersByTimeAsync(500);
    expect(probes.map(({ code }) => code)).toEqual(Array(4).fill('sequencer_bad_status'));
    const error = await transport.call(getStatus, body).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'SequencerError', status: 503, retryAfterMs: 1_500 });
    await jest.advanceTimersByTimeAsync(1_500);
    inner.play(ok);
    expect(await outcome()).toEqual({ answer });
  });

  it('counts as open in the state of the service until a call of its operation succeeds', async () => {
    await open();
    inner.play(ok);
    await outcome(createIntent);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(transport.serviceState()).toMatchObject({ hasFailingOperation: true });
    expect(await outcome()).toEqual({ answer });
    expect(transport.serviceState()).toMatchObject({ hasFailingOperation: false });
  });

  it('is not closed by an empty answer, until another operation has been answered with bytes', async () => {
    await open();
    inner.play(() => emptyEnvelope);
    await jest.advanceTimersByTimeAsync(5_000);
    for (let n = 0; n < 2; n += 1) expect(await outcome()).toEqual({ answer: emptyEnvelope });
    expect(transport.serviceState()).toMatchObject({ hasFailingOperation: true });
    inner.play(ok);
    await outcome(createIntent);
    inner.play(() => emptyEnvelope);
    expect(await outcome()).toEqual({ answer: emptyEnvelope });
    expect(transport.serviceState()).toMatchObject({ hasFailingOperation: false });
  });

  it('does not open for five failures with empty answers between', async () => {
    wrap(fault);
    for (let n = 0; n < 20; n += 1) {
      inner.play(n % 5 === 4 ? () => emptyEnvelope : fault);
      expect((await outcome()).code).not.toBe('sequencer_unavailable');
    }
    expect(transport.serviceState()).toEqual({ answeredMsAgo: undefined, hasFailingOperation: false });
  });

  it('no longer counts as open five minutes after the last failure, if its operation is not called', async () => {
    await open();
    inner.play(failingWithStatus(503));
    await jest.advanceTimersByTimeAsync(5_000);
    begin();
    await jest.advanceTimersByTimeAsync(299_999);
    expect(transport.serviceState()).toMatchObject({ hasFailingOperation: true });
    await jest.advanceTimersByTimeAsync(1);
    expect(transport.serviceState()).toMatchObject({ hasFailingOperation: false });
  });

  it('makes the next call the probe when the probe is aborted, however often', async () => {
    await open();
    inner.play(stalling);
    await jest.advanceTimersByTimeAsync(5_000);
    for (let n = 0; n < 10; n += 1) {
      const controller = new AbortController();
      begin(getStatus, { signal: controller.signal });
      const refused = begin();
      await jest.advanceTimersByTimeAsync(0);
      expect(refused.code).toBe('sequencer_unavailable');
      controller.abort('left');
      await jest.advanceTimersByTimeAsync(0);
    }
    expect(inner.calls).toHaveLength(15);
    inner.play(ok);
    expect(await outcome()).toEqual({ answer });
  });

  it('ignores a call that was sent before it opened', async () => {
    wrap((call) => (call.n === 1 ? slow(300)(call) : call.n === 2 ? stalling(call) : fault(call)), {
      attemptTimeoutMs: 900,
    });
    const [answered, timedOut] = [begin(), begin()];
    for (let n = 0; n < 5; n += 1) begin();
    await jest.advanceTimersByTimeAsync(300);
    expect(answered.code).toBe('ok');
    const refused = begin();
    await jest.advanceTimersByTimeAsync(200);
    expect([refused.code, inner.calls.length]).toEqual(['sequencer_unavailable', 7]);
    inner.play(slow(800));
    const probe = begin();
    await jest.advanceTimersByTimeAsync(500);
    expect(timedOut.code).toBe('sequencer_timeout');
    await jest.advanceTimersByTimeAsync(300);
    expect(probe.code).toBe('ok');
    expect(await outcome()).toEqual({ answer });
  });

  it('is separate for each operation: payments continue while logins fail', async () => {
    wrap((call) => (call.operation === getLoginForThirdPartyApp ? fault(call) : answer));
    for (let n = 0; n < 6; n += 1) await transport.call(getLoginForThirdPartyApp, body).catch(() => undefined);
    expect(await outcome(createIntent)).toEqual({ answer });
    expect(inner.calls).toHaveLength(6);
  });
});

describe('the retry budget', () => {
  it('refills with time, so a quiet site may retry every call', async () => {
    wrap((call) => (call.n % 2 === 1 ? failing('sequencer_unreachable')(call) : answer));
    for (let n = 0; n < 50; n += 1) expect(await outcome()).toEqual({ answer });
    expect(inner.calls).toHaveLength(100);
  });
});

describe("the caller's signal", () => {
  it('ends an attempt at once, with its reason', async () => {
    wrap(() => new Promise(() => undefined));
    const controller = new AbortController();
    const call = begin(getStatus, { signal: controller.signal });
    await jest.advanceTimersByTimeAsync(10);
    controller.abort('left');
    await jest.advanceTimersByTimeAsync(0);
    expect(call.code).toBe('left');
    expect(inner.calls[0]?.options.signal?.aborted).toBe(true);
  });

  it.each(['signal', 'cancelBeforeSend'])('%s that is already aborted prevents the call', async (name) => {
    wrap(ok);
    expect(await outcome(getStatus, { [name]: AbortSignal.abort('too late') })).toBe('too late');
    expect(inner.calls).toEqual([]);
  });

  it.each(['signal', 'cancelBeforeSend'])('%s has no listeners after the call', async (name) => {
    const { signal } = new AbortController();
    const options = { [name]: signal };
    wrap(inTurn(failing('sequencer_unreachable'), ok), { maxRunning: 1 });
    await Promise.all([outcome(getStatus, options), outcome(getStatus, options)]);
    wrap(failing('sequencer_error'));
    await outcome(getStatus, options);
    wrap(stalling);
    await outcome(getStatus, options);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('cancelBeforeSend', () => {
  it('does not end a call that was sent', async () => {
    wrap(slow(1_000));
    const controller = new AbortController();
    const call = begin(createIntent, { cancelBeforeSend: controller.signal });
    await jest.advanceTimersByTimeAsync(10);
    controller.abort('left');
    await jest.advanceTimersByTimeAsync(989);
    expect(call.done).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(call.code).toBe('ok');
  });

  it('ends the wait in the queue, and between two attempts', async () => {
    wrap(failingWithStatus(503, 4_000), { maxRunning: 1 });
    const controller = new AbortController();
    const calls = [0, 1].map(() => begin(createIntent, { cancelBeforeSend: controller.signal }));
    await jest.advanceTimersByTimeAsync(1_000);
    controller.abort('left');
    await jest.advanceTimersByTimeAsync(0);
    expect(calls.map(({ code }) => code)).toEqual(['left', 'left']);
    expect(inner.calls).toHaveLength(1);
  });
});

describe('close()', () => {
  it('waits for the running and waiting calls, then closes the transport once', async () => {
    wrap(slow(1_000), { maxRunning: 1 });
    const calls = [begin(), begin()];
    let closed = false;
    const closing = Promise.all([transport.close(), transport.close()]).then(() => {
      closed = true;
    });
    await jest.advanceTimersByTimeAsync(1_999);
    expect([closed, inner.closed]).toEqual([false, 0]);
    await jest.advanceTimersByTimeAsync(1);
    await closing;
    expect(calls.map(({ code }) => code)).toEqual(['ok', 'ok']);
    await transport.close();
    expect(inner.closed).toBe(1);
  });
});
