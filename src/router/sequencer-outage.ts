import { describeError } from '../describe-error.js';
import type { SequencerError } from '../errors.js';
import type { Logger } from '../http/logger.js';
import { isAnswered, isUnreached, noteCounted } from '../sequencer/resilience/outage.js';

/** While calls fail, their number is logged again after this long. In milliseconds. */
const repeatMs = 60_000;
/** The outage ends after this long without a failure. In milliseconds. */
const stableMs = 3_000;

interface Outage {
  readonly sinceMs: number;
  /** Failed calls by code. */
  readonly failed: Map<string, number>;
  /** When the first call after the last failure was answered. */
  answeredAtMs: number | undefined;
  loggedAtMs: number;
}

const countsOf = ({ failed }: Outage): string => [...failed].map(([code, count]) => `${count} ${code}`).join(', ');

/**
 * Logs two lines for an outage of the sequencer, instead of one for each failed call.
 *
 *     up         -- a call cannot reach the sequencer --> down; its error is logged
 *     down       -- a call is answered ----------------> recovering
 *     recovering -- a call cannot reach the sequencer --> down
 *     recovering -- no such failure for stableMs -------> up; the length and the failed calls are logged
 */
export class SequencerOutages {
  readonly #logger: Logger;
  #outage: Outage | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** A call has ended. @param failure undefined if it was answered */
  readonly note = (failure?: unknown): void => {
    if (isUnreached(failure)) this.#fail(failure);
    else if (isAnswered(failure) && this.#outage) this.#recover(this.#outage);
  };

  #fail(failure: SequencerError): void {
    noteCounted(failure);
    this.#outage ??= this.#begin(failure);
    const outage = this.#outage;
    outage.failed.set(failure.code, (outage.failed.get(failure.code) ?? 0) + 1);
    outage.answeredAtMs = undefined;
    clearTimeout(this.#timer);
    if (performance.now() - outage.loggedAtMs < repeatMs) return;
    outage.loggedAtMs = performance.now();
    this.#logger.error(`express-intents: calls to the sequencer still fail. Failed calls: ${countsOf(outage)}.`);
  }

  #begin(failure: SequencerError): Outage {
    const nowMs = performance.now();
    this.#logger.error(
      `express-intents: calls to the sequencer fail: ${failure.code}. ${outlook}`,
      describeError(failure),
    );
    return { sinceMs: nowMs, failed: new Map(), answeredAtMs: undefined, loggedAtMs: nowMs };
  }

  #recover(outage: Outage): void {
    if (outage.answeredAtMs !== undefined) return;
    outage.answeredAtMs = performance.now();
    const seconds = ((outage.answeredAtMs - outage.sinceMs) / 1_000).toFixed(1);
    this.#timer = setTimeout(() => {
      this.#outage = undefined;
      const failed = countsOf(outage);
      this.#logger.warn(`express-intents: the sequencer answers again after ${seconds} s. Failed calls: ${failed}.`);
    }, stableMs).unref();
  }
}

const outlook =
  'While it cannot be reached, payments and logins cannot begin, and submitted payments settle later. Further failures to reach it are ' +
  'counted. The numbers are logged each minute, and when it answers again.';
