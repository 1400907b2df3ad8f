import { call, type Status } from './api.js';
import { attempt } from './attempt.js';
import { backOffMs } from './persist.js';
import type { Settings } from './settings.js';

/**
 * What a watch tells: `created` and `unknown` are the service's word that there is such an intent or not, `offline` says that
 * neither stream nor status answers. Scanned and rejected are hints for the screen; submitted is what counts.
 */
export type Sign = 'created' | 'unknown' | 'scanned' | 'rejected' | 'submitted' | 'offline';

/** Watches one intent, by the stream where there is one, else by asking, until it is stopped; an hour at the most. */
export interface Watch {
  readonly id: string;
  /** Those it was begun with: the button may be for another order by now. */
  readonly settings: Settings;
  /** Set by whoever listens: the answer to `scanned` comes again with each status. */
  isScanned: boolean;
  /** Asks for the status now. */
  ask(): Promise<void>;
  /** Asks less often: its code is no longer shown, and its stream would take the place of one that is. */
  rest(): void;
  stop(): void;
}

const briskMs = 1_000;
/** While nobody looks at the dialog, or the code is gone. */
const calmMs = 5_000;
/** Beside a living stream, in case it died without anyone having noticed. */
const besideStreamMs = 15_000;
/** Coming back to a page fires several events at once. */
const sameMomentMs = 300;
const endMs = 3_600_000;
/** Of an EventSource that the browser has given up. */
const closedState = 2;

export function startWatch(id: string, settings: Settings, tell: (sign: Sign) => void): Watch {
  const { events, status } = settings.routes;
  const stopped = new AbortController();
  let asking: AbortController | undefined;
  let askedAtMs = 0;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout>;
  const hear = (sign: Sign): void => {
    failures = 0;
    tell(sign);
    plan();
  };
  const stream = createStream(events && `${events}/${id}/events`, hear, plan);
  let isCalm = false;

  function rest(): void {
    isCalm = true;
    stream.close();
    plan();
  }

  function stop(): void {
    stopped.abort();
    asking?.abort();
    stream.close();
    clearTimeout(timer);
  }

  async function ask(): Promise<void> {
    asking?.abort();
    const own = new AbortController();
    asking = own;
    askedAtMs = Date.now();
    clearTimeout(timer);
    const answer = await call<Status>(status && `${status}/${id}`, own.signal).catch(() => undefined);
    if (own.signal.aborted) return;
    failures = answer ? 0 : failures + 1;
    if (answer) tell(signOf(answer));
    else if (!stream.isAlive() && (failures > 1 || !navigator.onLine)) tell('offline');
    plan();
  }

  function plan(): void {
    clearTimeout(timer);
    // Coming into view asks at once.
    if (stopped.signal.aborted || document.hidden || !status) return;
    const usualMs = stream.isAlive() ? besideStreamMs : isCalm ? calmMs : briskMs;
    timer = setTimeout(ask, failures ? backOffMs(failures) : usualMs);
  }

  followPage(stopped.signal, stream, tell, () => {
    if (!isCalm) stream.open();
    if (Date.now() - askedAtMs > sameMomentMs) void ask();
  });
  setTimeout(stop, endMs);
  stream.open();
  plan();
  return { id, settings, isScanned: false, ask, rest, stop };
}

/**
 * Closes the stream when the page or the network goes away.
 * @param wake when it is back. A phone freezes a hidden page, and its connections end without an event.
 */
function followPage(signal: AbortSignal, stream: Stream, tell: (sign: Sign) => void, wake: () => void): void {
  const follow = ({ type }: Event): void => {
    // A stream over a network that is gone looks alive for long; the browser reports it at once.
    if (type === 'offline') tell(type);
    // A page with an open stream is not kept for the way back.
    if (/pagehide|offline/.test(type)) stream.close();
    else if (!document.hidden) wake();
  };
  for (const event of ['visibilitychange', 'pageshow', 'online', 'focus', 'pagehide', 'offline'])
    addEventListener(event, follow, { signal });
}

interface Stream {
  open(): void;
  close(): void;
  isAlive(): boolean;
}

/** The second word of an event is its sign. `status` has none: its data says it. */
const streamEvents = ['status', 'code_scanned', 'client_rejected_payment', 'client_rejected_login', 'intent_submitted'];

/**
 * A stream is alive after its first event: a proxy may hold it back, so until then the status is polled. The browser
 * reopens a stream that ended, but not one that was answered with an error, such as a proxy's 502. `createStream` reopens
 * that one until `close`.
 */
function createStream(url: string | false, hear: (sign: Sign) => void, died: () => void): Stream {
  let source: EventSource | undefined;
  let isAlive = false;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout>;
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
    isAlive = false;
  };
  const open = (): void => {
    if (source || !url) return;
    const opened = new EventSource(url);
    source = opened;
    for (const event of streamEvents) {
      opened.addEventListener(event, ({ data }) => {
        isAlive = true;
        failures = 0;
        hear((event.split('_')[1] as Sign | undefined) ?? signOf(attempt(() => JSON.parse(data)) ?? {}));
      });
    }
    opened.onerror = () => {
      const wasAlive = isAlive;
      isAlive = false;
      if (opened.readyState === closedState) {
        close();
        // At most 3 s, so that all streams are back within 5 s of a restart. A page that is shown again reopens at once.
        failures += 1;
        timer = setTimeout(() => document.hidden || open(), backOffMs(Math.min(failures, 2)));
      }
      if (wasAlive) died();
    };
  };
  return { open, close, isAlive: () => isAlive };
}

const signOf = ({ exists, code_scanned: isScanned, intent_submitted: isSubmitted }: Status): Sign =>
  isSubmitted ? 'submitted' : isScanned ? 'scanned' : exists ? 'created' : 'unknown';
