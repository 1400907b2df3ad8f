// How often one intent is polled, counted by the code that polls: the ledger, and the watch of a page.
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
 * The ages, in milliseconds, at which the ledger polls an unpaid intent: while it is open, then daily for as long
 * again after it has expired.
 */
export function looksAt(watchMs, timing = defaultTiming) {
  const ages = [];
  let ageMs = timing.watchFirstMs;
  for (; ageMs < watchMs; ageMs += untilNextPollMs(ageMs, timing)) ages.push(ageMs);
  for (const endMs = ageMs + watchMs; ageMs < endMs; ageMs += timing.watchCapMs) ages.push(ageMs);
  return [...ages, ageMs];
}

/** The times after settlement at which a payment is polled, in milliseconds. */
export function reversalLooksAt(reversalWatchMs, timing = defaultTiming) {
  const times = [];
  for (let agoMs = timing.reversalFirstMs; ; ) {
    times.push(agoMs);
    const waitMs = untilReversalPollMs(agoMs, reversalWatchMs, timing);
    if (waitMs === undefined) return times;
    agoMs += waitMs;
  }
}

const payload = encodePayload({ kind: 'login', nonce: new Uint8Array(nonceLength) });
const anybodys = { id: intentIdOf(rendezvousKeyPair(payload)), clientSecret: formatClientSecret(payload) };

/** How often the watch of one page polls while its stream is silent for so long. */
export async function asksOfPage(openMs) {
  let [nowMs, asks] = [0, 0];
  const timers = new Set();
  const leaving = new AbortController();
  const timing = {
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
    asks += 1;
    return { exists: true, codeScanned: false, intentSubmitted: false };
  };
  const events = watchIntent(transport, { fetchStatus, timing })(anybodys, { signal: leaving.signal });
  const over = events.next();
  for (;;) {
    await new Promise(setImmediate);
    const [next] = [...timers].sort((one, other) => one.atMs - other.atMs);
    if (!next || next.atMs > openMs) break;
    timers.delete(next);
    nowMs = next.atMs;
    next.elapsed();
  }
  leaving.abort();
  await over;
  // The first is asked for when the page is greeted, before there is a watch.
  return asks + 1;
}
