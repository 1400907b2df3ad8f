import { SequencerError } from '../../../src/errors.js';
import { getStatus, type IntentStatus } from '../../../src/sequencer/calls.js';
import { type FetchStatus, StatusCache, type StatusUpdate } from '../../../src/sequencer/watch/status-cache.js';
import { pending, StatusTransport, submitted, unknown } from '../../support/transports/status-transport.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const otherId = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const down = new SequencerError('sequencer_unreachable', 'down');

function statusCache(capacity?: number) {
  const transport = new StatusTransport();
  let nowMs = 5_000;
  const updates: StatusUpdate[] = [];
  const status = new StatusCache({
    fetchStatus: (intent, options) => getStatus(transport, intent, options),
    now: () => nowMs,
    capacity,
  });
  status.subscribe((update) => updates.push(update));
  const pass = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return { transport, status, updates, pass };
}

test('concurrent callers share one call for each intent', async () => {
  const { transport, status } = statusCache();
  const answers = await Promise.all([status.get(id), status.get(id), status.get(otherId), status.get(id)]);
  expect(answers).toEqual([pending, pending, pending, pending]);
  expect(transport.callCount).toBe(2);
});

test('an exception of a subscriber affects neither other subscribers nor callers', async () => {
  const errors: unknown[] = [];
  const transport = new StatusTransport();
  const ask: FetchStatus = (intent, options) => getStatus(transport, intent, options);
  const status = new StatusCache({ fetchStatus: ask, now: () => 0, onSubscriberError: (error) => errors.push(error) });
  status.subscribe(() => {
    throw new Error('a subscriber');
  });
  const updates: StatusUpdate[] = [];
  status.subscribe((update) => updates.push(update));
  expect(await status.get(id)).toEqual(pending);
  expect(updates).toHaveLength(1);
  expect(errors).toEqual([new Error('a subscriber')]);
});

test.each([
  ['pending', pending, 250],
  ['unknown', unknown, 250],
  ['submitted', submitted, 60_000],
])('a status that is %s is read again when it has expired, and not before', async (_name, answer, lifetimeMs) => {
  const { transport, status, pass } = statusCache();
  transport.answerWith(answer);
  expect(status.peek(id)).toBeUndefined();
  await status.get(id);
  pass(lifetimeMs - 1);
  expect(status.peek(id)).toEqual(answer);
  expect(await status.get(id)).toEqual(answer);
  expect(transport.callCount).toBe(1);
  pass(1);
  expect(status.peek(id)).toBeUndefined();
  await status.get(id);
  expect(transport.callCount).toBe(2);
});

test('a full cache evicts the intent whose status is the oldest', () => {
  const { status } = statusCache(2);
  for (const intent of ['first', 'second', 'first', 'third']) status.set(intent, submitted, 'stream');
  expect(['first', 'second', 'third'].map((intent) => status.peek(intent))).toEqual([submitted, undefined, submitted]);
  expect(status.size).toBe(2);
});

test('a failure rejects all waiting callers and is not cached', async () => {
  const { transport, status } = statusCache();
  transport.answerWith(down);
  const answers = await Promise.allSettled([status.get(id), status.get(id)]);
  expect(answers.map((answer) => answer.status === 'rejected' && answer.reason)).toEqual([down, down]);
  expect(transport.callCount).toBe(1);
  expect([status.peek(id), status.size]).toEqual([undefined, 0]);
  transport.answerWith(pending);
  expect(await status.get(id)).toEqual(pending);
});

describe('aborting a read', () => {
  test('does not send a queued call if no caller waits', async () => {
    const asked: (AbortSignal | undefined)[] = [];
    const ask: FetchStatus = (_id, { cancelBeforeSend }) =>
      new Promise((_resolve, reject) => {
        asked.push(cancelBeforeSend);
        cancelBeforeSend?.addEventListener('abort', () => reject(cancelBeforeSend.reason));
      });
    const status = new StatusCache({ fetchStatus: ask, now: () => 0 });
    const leaving = new AbortController();
    const left = status.get(id, { signal: leaving.signal });
    leaving.abort(new Error('gone'));
    // Comes before the call has ended, and gets its own call.
    const next = status.get(id);
    await expect(left).rejects.toThrow('gone');
    expect(asked[0]?.aborted).toBe(true);
    while (asked.length < 2) await Promise.resolve();
    status.set(id, submitted, 'stream');
    expect(status.peek(id)).toEqual(submitted);
    next.catch(() => undefined);
  });
});

test('bypassCache shares no earlier call, whose answer is neither cached nor an update', async () => {
  const calls: ((answer: IntentStatus) => void)[] = [];
  const fetchStatus = () => new Promise<IntentStatus>((resolve) => calls.push(resolve));
  const status = new StatusCache({ fetchStatus, now: () => 0 });
  const updates: StatusUpdate[] = [];
  status.subscribe((update) => updates.push(update));
  const earlier = status.get(id);
  const later = status.get(id, { bypassCache: true });
  const joined = status.get(id);
  expect(calls).toHaveLength(2);
  calls[0]?.(pending);
  expect(await earlier).toEqual(pending);
  expect([status.peek(id), updates]).toEqual([undefined, []]);
  calls[1]?.(submitted);
  expect(await Promise.all([later, joined])).toEqual([submitted, submitted]);
  expect([status.peek(id), updates.length]).toEqual([submitted, 1]);
});

describe('subscribers', () => {
  const updateOf = (intent: string, status: StatusUpdate['status'], source: StatusUpdate['source'] = 'status') => ({
    ...{ id: intent, status, source },
  });

  test('receive every change, and nothing when a call or another source reports the same status', async () => {
    const { transport, status, updates } = statusCache();
    await status.get(id);
    await status.get(id, { bypassCache: true });
    transport.answerWith(submitted);
    await status.get(id, { bypassCache: true });
    status.set(id, submitted, 'stream');
    await status.get(id, { bypassCache: true, source: 'webhook' });
    expect(updates).toEqual([updateOf(id, pending), updateOf(id, submitted)]);
    transport.answerWith(pending);
    await status.get(id, { bypassCache: true });
    expect(updates.at(-1)).toEqual(updateOf(id, pending));
    status.set(otherId, submitted, 'stream');
    expect(updates.at(-1)).toEqual(updateOf(otherId, submitted, 'stream'));
  });

  test('do not receive a response that is older than the cached status', async () => {
    const { transport, status, updates } = statusCache();
    transport.answerWith('nothing');
    const earlier = status.get(id, { bypassCache: true, source: 'ledger' });
    status.set(id, submitted, 'stream');
    transport.answerWith(pending);
    expect(await earlier).toEqual(pending);
    expect(updates).toEqual([updateOf(id, submitted, 'stream')]);
  });

  test.each([
    [['status', 'stream'], 'stream'],
    [['stream', 'status'], 'stream'],
    [['webhook', 'stream'], 'webhook'],
    [['status', 'ledger', 'webhook'], 'ledger'],
  ] as const)('of a call for %j receive the source %j', async (given, source) => {
    const { transport, status, updates } = statusCache();
    transport.answerWith('nothing');
    const answers = given.map((each) => status.get(id, { source: each }));
    transport.answerWith(submitted);
    await Promise.all(answers);
    expect(updates).toEqual([updateOf(id, submitted, source)]);
    expect(transport.callCount).toBe(1);
  });
});
