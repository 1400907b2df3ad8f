import type { Abortable } from '../../src/async/abort.js';
import { IntentError, SequencerError } from '../../src/errors.js';
import { getStatus } from '../../src/sequencer/calls.js';
import { type AskStatus, SharedStatus } from '../../src/sequencer/watch/status-cache.js';
import { pending, StatusTransport, submitted, unknown } from '../support/transports/status-transport.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const otherId = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const down = new SequencerError('sequencer_unreachable', 'down');

function sharedStatus(capacity?: number) {
  const transport = new StatusTransport();
  let nowMs = 5_000;
  const told: string[] = [];
  const status = new SharedStatus({
    ask: (intent, options) => getStatus(transport, intent, options),
    now: () => nowMs,
    capacity,
    onSubmitted: (intent) => told.push(intent),
  });
  const pass = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return { transport, status, told, pass };
}

test('who asks at the same time shares one call, each intent its own', async () => {
  const { transport, status } = sharedStatus();
  const answers = await Promise.all([status.get(id), status.get(id), status.get(otherId), status.get(id)]);
  expect(answers).toEqual([pending, pending, pending, pending]);
  expect(transport.asked).toBe(2);
});

test.each([
  ['pending', pending, 250],
  ['unknown', unknown, 250],
  ['submitted', submitted, 60_000],
])('an intent that is %s is asked for again after its time, and not before', async (_name, answer, lifetimeMs) => {
  const { transport, status, pass } = sharedStatus();
  transport.answerWith(answer);
  expect(status.known(id)).toBeUndefined();
  await status.get(id);
  pass(lifetimeMs - 1);
  expect(status.known(id)).toEqual(answer);
  expect(await status.get(id)).toEqual(answer);
  expect(transport.asked).toBe(1);
  pass(1);
  expect(status.known(id)).toBeUndefined();
  await status.get(id);
  expect(transport.asked).toBe(2);
});

test('what was submitted can be reversed', async () => {
  const { transport, status, pass } = sharedStatus();
  transport.answerWith(submitted);
  await status.get(id);
  transport.answerWith(pending);
  pass(60_000);
  expect(await status.get(id)).toEqual(pending);
});

test('a clock that was set back does not make an answer last', async () => {
  const { transport, status, pass } = sharedStatus();
  await status.get(id);
  pass(-3_600_000);
  await status.get(id);
  expect(transport.asked).toBe(2);
});

test('a failure is told to all who wait, and not kept for those who come after', async () => {
  const { transport, status } = sharedStatus();
  transport.answerWith(down);
  const answers = await Promise.allSettled([status.get(id), status.get(id)]);
  expect(answers.map((answer) => answer.status === 'rejected' && answer.reason)).toEqual([down, down]);
  expect(transport.asked).toBe(1);
  expect([status.known(id), status.size]).toEqual([undefined, 0]);
  transport.answerWith(pending);
  expect(await status.get(id)).toEqual(pending);
});

test('an id that is none is refused, asks nobody and leaves nothing', async () => {
  const { transport, status } = sharedStatus();
  await expect(status.get('x'.repeat(10_000))).rejects.toThrow(IntentError);
  await expect(status.get('constructor')).rejects.toMatchObject({ code: 'invalid_id' });
  expect([transport.asked, status.size]).toEqual([0, 0]);
});

describe('leaving', () => {
  test('leaves the call to those who still wait', async () => {
    const { transport, status } = sharedStatus();
    transport.answerWith('nothing');
    const leaving = new AbortController();
    const left = status.get(id, { signal: leaving.signal });
    const stays = status.get(id, { signal: new AbortController().signal });
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    transport.answerWith(submitted);
    expect(await stays).toEqual(submitted);
    expect([transport.asked, transport.aborted]).toEqual([1, 0]);
  });

  test('lets a call that was sent run to its end when nobody waits any more', async () => {
    const { transport, status } = sharedStatus();
    transport.answerWith('nothing');
    const leaving = [new AbortController(), new AbortController()];
    const left = leaving.map(({ signal }) => status.get(id, { signal }));
    for (const each of leaving) each.abort();
    const answers = await Promise.allSettled(left);
    expect(answers.map((answer) => answer.status)).toEqual(['rejected', 'rejected']);
    transport.answerWith(pending);
    expect(await status.get(id)).toEqual(pending);
    expect([transport.asked, transport.aborted]).toEqual([1, 0]);
  });

  test('sends nothing for a call that waits for its turn when nobody waits for it any more', async () => {
    const asked: (Abortable | undefined)[] = [];
    const ask: AskStatus = (_id, { sendUntil }) =>
      new Promise((_resolve, reject) => {
        asked.push(sendUntil);
        sendUntil?.addEventListener('abort', () => reject(sendUntil.reason));
      });
    const status = new SharedStatus({ ask, now: () => 0 });
    const leaving = new AbortController();
    const left = status.get(id, { signal: leaving.signal });
    leaving.abort(new Error('gone'));
    // Comes before the call has ended, and is asked for all the same.
    const next = status.get(id);
    await expect(left).rejects.toThrow('gone');
    expect(asked[0]?.aborted).toBe(true);
    while (asked.length < 2) await Promise.resolve();
    status.learn(id, submitted);
    expect(status.known(id)).toEqual(submitted);
    next.catch(() => undefined);
  });

  test('shares a call that was sent with a caller who comes at the very next moment', async () => {
    const { transport, status } = sharedStatus();
    transport.answerWith('nothing');
    const leaving = new AbortController();
    const left = status.get(id, { signal: leaving.signal });
    leaving.abort();
    const next = status.get(id);
    transport.answerWith(submitted);
    await expect(left).rejects.toThrow();
    expect(await next).toEqual(submitted);
    expect(transport.asked).toBe(1);
  });

  test('asks again for a caller who shares a call that then fails', async () => {
    const { transport, status } = sharedStatus();
    transport.answerWith('nothing');
    const leaving = new AbortController();
    const left = status.get(id, { signal: leaving.signal });
    leaving.abort();
    const next = status.get(id);
    transport.answerWith(down);
    await expect(left).rejects.toThrow();
    const answered = expect(next).rejects.toBe(down);
    await answered;
    expect(transport.asked).toBe(2);
  });

  test('after the answer does nothing', async () => {
    const { transport, status } = sharedStatus();
    const leaving = new AbortController();
    await status.get(id, { signal: leaving.signal });
    leaving.abort();
    expect(status.known(id)).toEqual(pending);
    expect(transport.aborted).toBe(0);
  });

  test('before asking asks nobody', async () => {
    const { transport, status } = sharedStatus();
    await expect(status.get(id, { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(transport.asked).toBe(0);
  });

  test('who gave no signal stays', async () => {
    const { transport, status } = sharedStatus();
    transport.answerWith('nothing');
    const leaving = new AbortController();
    const stays = status.get(id);
    const left = status.get(id, { signal: leaving.signal });
    leaving.abort();
    await expect(left).rejects.toThrow();
    transport.answerWith(pending);
    expect(await stays).toEqual(pending);
  });
});

test('a fresh answer is asked for though one is known, and known to all then', async () => {
  const { transport, status } = sharedStatus();
  await status.get(id);
  transport.answerWith(submitted);
  expect(await status.get(id, { isFresh: true })).toEqual(submitted);
  expect(status.known(id)).toEqual(submitted);
  transport.answerWith('nothing');
  const both = [status.get(id, { isFresh: true }), status.get(id, { isFresh: true })];
  transport.answerWith(submitted);
  expect(await Promise.all(both)).toEqual([submitted, submitted]);
  expect(transport.asked).toBe(3);
});

test('what was learnt on another way counts, also against a call that is under way', async () => {
  const { transport, status } = sharedStatus();
  transport.answerWith('nothing');
  const earlier = status.get(id);
  status.learn(id, submitted);
  expect(status.known(id)).toEqual(submitted);
  transport.answerWith(pending);
  await earlier;
  expect(await status.get(id)).toEqual(submitted);
});

test('answers are kept of so many intents and no more; the one asked for longest ago makes room', async () => {
  const { transport, status } = sharedStatus(2);
  const third = 'FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF';
  await status.get(id);
  await status.get(otherId);
  await status.get(id, { isFresh: true });
  await status.get(third);
  expect(status.size).toBe(2);
  expect(status.known(otherId)).toBeUndefined();
  expect([status.known(id), status.known(third)]).toEqual([pending, pending]);
  expect(transport.asked).toBe(4);
});

test('a thousand tabs that ask every second for ten seconds cost at most five calls a second', async () => {
  const { transport, status, pass } = sharedStatus();
  for (let tick = 0; tick < 1_000; tick += 1) {
    pass(10);
    await Promise.all(Array.from({ length: 10 }, () => status.known(id) ?? status.get(id)));
  }
  expect(transport.asked).toBeGreaterThan(10);
  expect(transport.asked).toBeLessThanOrEqual(50);
});

describe('that an intent was submitted is passed on', () => {
  test('whoever learns it, and only when the sequencer says so', async () => {
    const { transport, status, told } = sharedStatus();
    await status.get(id);
    expect(told).toEqual([]);
    transport.answerWith(submitted);
    await Promise.all([status.get(id, { isFresh: true }), status.get(id, { isFresh: true })]);
    await status.get(id);
    status.known(id);
    expect(told).toEqual([id]);
    status.learn(otherId, submitted);
    status.learn(otherId, pending);
    expect(told).toEqual([id, otherId]);
  });

  test('but not to somebody who learns it by the same call', async () => {
    const { transport, status, told } = sharedStatus();
    transport.answerWith('nothing');
    const both = [status.get(id), status.get(id, { isFresh: true, isQuiet: true })];
    transport.answerWith(submitted);
    await Promise.all(both);
    expect(told).toEqual([]);
  });

  test('also while he waits for an answer that may be from before', async () => {
    const { transport, status, told } = sharedStatus();
    transport.answerWith('nothing');
    const earlier = status.get(id, { isFresh: true, isQuiet: true });
    status.learn(id, submitted);
    expect(told).toEqual([id]);
    transport.answerWith(pending);
    expect(await earlier).toEqual(pending);
  });
});
