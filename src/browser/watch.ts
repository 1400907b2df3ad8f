import { call, type Status } from './api.js';
import type { ElementRoutes } from './site-config.js';

/**
 * What a watch tells: `created` and `unknown` are the service's word that there is such an intent or not, `silent` says that
 * neither stream nor status answers. Scanned and rejected are hints for the screen; submitted is what counts.
 */
export type Sign = 'created' | 'unknown' | 'scanned' | 'rejected' | 'submitted' | 'silent';

const briskMs = 1_000;
/** While nobody looks at the dialog, or the code is gone. */
const calmMs = 5_000;
/** Beside a living stream, in case it died without anyone having noticed. */
const besideStreamMs = 15_000;
const longestMs = 8_000;
/** Coming back to a page fires several events at once. */
const sameMomentMs = 300;
const endMs = 3_600_000;

const signByEvent: Readonly<Record<string, Sign>> = {
  code_scanned: 'scanned',
  client_rejected_payment: 'rejected',
  client_rejected_login: 'rejected',
  intent_submitted: 'submitted',
};

/** Watches one intent, by the stream where there is one, else by asking, until it is stopped; an hour at the most. */
export class Watch {
  readonly id: string;
  /** Set by whoever listens: the answer to `scanned` comes again with each status. */
  scanned = false;
  /** Asks less often. */
  calm = false;
  readonly #routes: ElementRoutes;
  readonly #tell: (sign: Sign) => void;
  readonly #stopped = new AbortController();
  readonly #startedAtMs = Date.now();
  #stream: EventSource | undefined;
  #isStreamAlive = false;
  #asking: AbortController | undefined;
  #askedAtMs = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, routes: ElementRoutes, tell: (sign: Sign) => void) {
    this.id = id;
    this.#routes = routes;
    this.#tell = tell;
    const { signal } = this.#stopped;
    const wake = (): void => this.#wake();
    // A phone freezes a page that is not seen, and its connections die silently: what happened meanwhile is asked for.
    document.addEventListener('visibilitychange', wake, { signal });
    for (const event of ['pageshow', 'online', 'focus']) addEventListener(event, wake, { signal });
    // A stream over a network that is gone looks alive for long; the browser knows better.
    addEventListener('offline', () => this.#lose(), { signal });
    // A page with an open stream is not kept for the way back.
    addEventListener('pagehide', () => this.#closeStream(), { signal });
    this.#openStream();
    this.#plan();
  }

  /** Asks for the status now. */
  ask(): void {
    void this.#ask();
  }

  stop(): void {
    this.#stopped.abort();
    this.#closeStream();
    this.#asking?.abort();
    clearTimeout(this.#timer);
  }

  #wake(): void {
    if (document.hidden) return;
    if (!this.#stream) this.#openStream();
    if (Date.now() - this.#askedAtMs > sameMomentMs) this.ask();
  }

  #lose(): void {
    this.#closeStream();
    this.#say('silent');
  }

  #openStream(): void {
    const { events } = this.#routes;
    if (events === false) return;
    const stream = new EventSource(`${events}/${this.id}/events`);
    this.#stream = stream;
    stream.addEventListener('status', ({ data }) => this.#hear(parse(data)));
    for (const [event, sign] of Object.entries(signByEvent)) {
      stream.addEventListener(event, () => {
        this.#live(true);
        this.#say(sign);
      });
    }
    stream.addEventListener('error', () => {
      this.#live(false);
      // Otherwise the browser opens it again by itself.
      if (stream.readyState === EventSource.CLOSED) this.#closeStream();
    });
  }

  #closeStream(): void {
    this.#stream?.close();
    this.#stream = undefined;
    this.#isStreamAlive = false;
  }

  /** A stream is alive once it has told something: in front of one that is held back, asking goes on. */
  #live(isAlive: boolean): void {
    const changed = this.#isStreamAlive !== isAlive;
    this.#isStreamAlive = isAlive;
    if (isAlive) this.#failures = 0;
    if (changed) this.#plan();
  }

  #hear(status: Status): void {
    this.#live(true);
    this.#sayStatus(status);
  }

  #sayStatus({ exists, code_scanned: scanned, intent_submitted: submitted }: Status): void {
    this.#say(submitted ? 'submitted' : scanned ? 'scanned' : exists ? 'created' : 'unknown');
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.#askedAtMs = Date.now();
    try {
      const { status } = this.#routes;
      const answer = await call<Status>('GET', status && `${status}/${this.id}`, undefined, asking.signal);
      if (this.#asking !== asking) return;
      this.#failures = 0;
      this.#sayStatus(answer);
    } catch {
      if (this.#asking !== asking) return;
      this.#failures += 1;
      if (!this.#isStreamAlive && (this.#failures > 1 || !navigator.onLine)) this.#say('silent');
    }
    this.#plan();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    // Coming into view asks at once.
    if (Date.now() - this.#startedAtMs > endMs) this.stop();
    if (this.#stopped.signal.aborted || document.hidden || this.#routes.status === false) return;
    const usualMs = this.#isStreamAlive ? besideStreamMs : this.calm ? calmMs : briskMs;
    const waitMs = this.#failures > 0 ? Math.min(briskMs * 2 ** (this.#failures - 1), longestMs) : usualMs;
    this.#timer = setTimeout(() => this.ask(), waitMs);
  }

  #say(sign: Sign): void {
    if (!this.#stopped.signal.aborted) this.#tell(sign);
  }
}

function parse(data: string): Status {
  try {
    return JSON.parse(data) ?? {};
  } catch {
    return {};
  }
}
