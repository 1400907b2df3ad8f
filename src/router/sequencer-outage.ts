import { describeError } from '../describe-error.js';
import type { SequencerError } from '../errors.js';
import type { Logger } from '../http/logger.js';
import { isOutage } from '../sequencer/resilience/resilient-transport.js';

/** The outage ends after this long without a failure. In milliseconds. */
const stableMs = 3_000;

interface Outage {
  readonly sinceMs: number;
  /** Failed calls by code. */
  readonly failed: Map<string, number>;
  /** When the first call after the last failure was answered. */
  answeredAtMs: number | undefined;
}

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
    if (isOutage(failure)) this.#fail(failure);
    else if (this.#outage && this.#outage.answeredAtMs === undefined) this.#recover(this.#outage);
  };

  #fail(failure: SequencerError): void {
    this.#outage ??= this.#begin(failure);
    const { failed } = this.#outage;
    failed.set(failure.code, (failed.get(failure.code) ?? 0) + 1);
    this.#outage.answeredAtMs = undefined;
    clearTimeout(this.#timer);
  }

  #begin(failure: SequencerError): Outage {
    this.#logger.error(
      `express-intents: calls to the sequencer fail: ${failure.code}. ${outlook}`,
      describeError(failure),
    );
    return { sinceMs: performance.now(), failed: new Map(), answeredAtMs: undefined };
  }

  #recover(outage: Outage): void {
    outage.answeredAtMs = performance.now();
    const seconds = ((outage.answeredAtMs - outage.sinceMs) / 1_000).toFixed(1);
    this.#timer = setTimeout(() => {
      this.#outage = undefined;
      const counts = [...outage.failed].map(([code, count]) => `${count} ${code}`).join(', ');
      this.#logger.warn(`express-intents: the sequencer answers again after ${seconds} s. Failed calls: ${counts}.`);
    }, stableMs).unref();
  }
}

const outlook =
  'Until it answers, payments and logins cannot begin, and submitted payments settle later. Further failures to reach it are counted, ' +
  'and logged when it answers again.';
