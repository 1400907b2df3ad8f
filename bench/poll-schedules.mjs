// How often one intent is polled by the ledger and by the watch of a page. Uses the built code.
import {
  encodePayload,
  formatClientSecret,
  intentIdOf,
  nonceLength,
  rendezvousKeyPair,
} from '../build/intents/payload.js';
import { defaultTiming, untilNextPollMs, untilReversalPollMs } from '../build/ledger/settlement/settlement-timing.js';
import { watchIntent } from '../build/sequencer/watch/watch-intent.js';

/**
 * The ages in milliseconds at which the ledger polls an unpaid intent: on its schedule while it is open, then daily for the
 * same time after its expiry.
 */
export function pollAges(watchMs, timing = defaultTiming) {
  const ages = [];
  let ageMs = timing.watchFirstMs;
  for (; ageMs < watchMs; ageMs += untilNextPollMs(ageMs, timing)) ages.push(ageMs);
  for (const endMs = ageMs + watchMs; ageMs < endMs; ageMs += timing.watchCapMs) ages.push(ageMs);
  return [...ages, ageMs];
}

/** The times after settlement at which the ledger polls for a reversal, in milliseconds. */
export function reversalPollTimes(reversalWatchMs, timing = defaultTiming) {
  const times = [];
  for (let agoMs = timing.reversalFirstMs; ; ) {
    times.push(agoMs);
    const waitMs = untilReversalPollMs(agoMs, reversalWatchMs, timing);
    if (waitMs === undefined) return times;
    agoMs += waitMs;
  }
}

/** The interval at which a visible page polls the status while its stream is alive, as in src/browser/flow/watch.ts. */
const pagePollMs = 15_000;

const payload = encodePayload({ kind: 'login', nonce: new Uint8Array(nonceLength) });
const intent = { id: intentIdOf(rendezvousKeyPair(payload)), clientSecret: formatClientSecret(payload) };

/** The number of status requests to the service for a visible page that is open for some time, without an event. */
export async function pollsOfPage(openMs) {
  let [nowMs, polls] = [0, 0];
  const timers = new Set();
  const closing = new AbortController();
  const clock = {
    now: () => nowMs,
    random: () => 0.5,
    startTimer: (elapsed, delayMs) => {
      const timer = { atMs: nowMs + delayMs, elapsed };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  const silence = { next: () => new Promise(() => undefined), return: async () => ({ done: true, value: undefined }) };
  const transport = { openStream: () => ({ [Symbol.asyncIterator]: () => silence }) };
  const fetchStatus = async () => {
    polls += 1;
    return { exists: true, codeScanned: false, intentSubmitted: false };
  };
  const events = watchIntent(transport, { fetchStatus, clock })(intent, { signal: closing.signal });
  const ended = events.next();
  for (;;) {
    await new Promise(setImmediate);
    const [next] = [...timers].sort((one, other) => one.atMs - other.atMs);
    if (!next || next.atMs > openMs) break;
    timers.delete(next);
    nowMs = next.atMs;
    next.elapsed();
  }
  closing.abort();
  await ended;
  // Each interval of the page begins after a response, so there is no poll at the end.
  const pagePolls = Math.ceil(openMs / pagePollMs) - 1;
  // The first request is sent before the watch starts.
  return 1 + polls + pagePolls;
}
