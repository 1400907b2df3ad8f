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
  const startedAtMs = Date.now();
  const stopped = new AbortController();
  const say = (sign: Sign): void => {
    if (!stopped.signal.aborted) tell(sign);
  };
  let asking: AbortController | undefined;
  let askedAtMs = 0;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout>;
  const stream = createStream(events && `${events}/${id}/events`, say, (isAlive) => {
    if (isAlive) failures = 0;
    plan();
  });
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
    if (answer) say(signOf(answer));
    else if (!stream.isAlive() && (failures > 1 || !navigator.onLine)) say('offline');
    plan();
  }

  function plan(): void {
    clearTimeout(timer);
    // Coming into view asks at once.
    if (Date.now() - startedAtMs > endMs) stop();
    if (stopped.signal.aborted || document.hidden || !status) return;
    const usualMs = stream.isAlive() ? besideStreamMs : isCalm ? calmMs : briskMs;
    timer = setTimeout(ask, failures ? backOffMs(failures) : usualMs);
  }

  followPage(stopped.signal, stream, say, () => {
    if (!isCalm) stream.open();
    if (Date.now() - askedAtMs > sameMomentMs) void ask();
  });
  plan();
  return { id, settings, isScanned: false, ask, rest, stop };
}

/** Opens the stream, and again when the page comes back. @param wake when there may be news that nobody has told */
function followPage(signal: AbortSignal, stream: Stream, say: (sign: Sign) => void, wake: () => void): void {
  const listen = (events: string[], listener: () => void): void => {
    for (const event of events) addEventListener(event, listener, { signal });
  };
  const look = (): void => {
    if (!document.hidden) wake();
  };
  // A phone freezes a page that is not seen, and its connections die silently: what happened meanwhile is asked for.
  listen(['visibilitychange', 'pageshow', 'online', 'focus'], look);
  // A page with an open stream is not kept for the way back.
  listen(['pagehide', 'offline'], stream.close);
  // A stream over a network that is gone looks alive for long; the browser knows better.
  listen(['offline'], () => say('offline'));
  stream.open();
}

interface Stream {
  open(): void;
  close(): void;
  isAlive(): boolean;
}

/** What each event of the stream says; a status has to be read. */
const signByEvent: Readonly<Record<string, Sign | ''>> = {
  status: '',
  code_scanned: 'scanned',
  client_rejected_payment: 'rejected',
  client_rejected_login: 'rejected',
  intent_submitted: 'submitted',
};

/** A stream is alive once it has told something: in front of one that is held back, asking goes on. */
function createStream(url: string | false, say: (sign: Sign) => void, tellAlive: (isAlive: boolean) => void): Stream {
  let source: EventSource | undefined;
  let isAlive = false;
  const live = (isNow: boolean): void => {
    if (!isNow && !isAlive) return;
    isAlive = isNow;
    tellAlive(isNow);
  };
  const close = (): void => {
    source?.close();
    source = undefined;
    isAlive = false;
  };
  const open = (): void => {
    if (source || !url) return;
    source = new EventSource(url);
    for (const [event, sign] of Object.entries(signByEvent)) {
      source.addEventListener(event, ({ data }) => {
        live(true);
        say(sign || signOf(attempt(() => JSON.parse(data)) ?? {}));
      });
    }
    source.addEventListener('error', () => {
      live(false);
      // Otherwise the browser opens it again by itself.
      if (source?.readyState === closedState) close();
    });
  };
  return { open, close, isAlive: () => isAlive };
}

const signOf = ({ exists, code_scanned: isScanned, intent_submitted: isSubmitted }: Status): Sign =>
  isSubmitted ? 'submitted' : isScanned ? 'scanned' : exists ? 'created' : 'unknown';
