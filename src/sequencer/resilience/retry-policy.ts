import { exponentialBackoffMs, jitteredMs } from '../../async/backoff.js';
import { SequencerError } from '../../errors.js';
import { nameOf, type Operation, operations } from '../../wire/envelope.js';

const maxRetries = 2;
/** The maximum of the first delay, in milliseconds; that of the second is twice as long. Full jitter. */
const firstDelayMs = 100;
/** If `Retry-After` is longer than this, the call is not retried. In milliseconds. */
const longestRetryAfterMs = 5_000;
/** With less remaining time than this, a retry would only add load. In milliseconds. */
const shortestAttemptMs = 20;

/**
 * The idempotent operations: a repeated call changes nothing. For the creation of intents see protocol section 6. A retry
 * sends the same bytes, with the same signature.
 */
const idempotent: ReadonlySet<string> = new Set(
  [
    operations.createIntent,
    operations.sendMessage,
    operations.getStatus,
    operations.getLoginForThirdPartyApp,
    operations.registerWebhook,
    operations.pollMessages,
    operations.ackMessages,
  ].map(nameOf),
);

/** Whether a call may be sent again if its answer was lost. */
export function isIdempotent(operation: Operation): boolean {
  return idempotent.has(nameOf(operation));
}

/** Too many requests, bad gateway, unavailable, gateway timeout. */
const transientStatuses: readonly (number | undefined)[] = [429, 502, 503, 504];

/** Whether the same bytes may succeed later. A refusal, an unreadable answer and status 500 would repeat. */
function isRetryable(error: unknown): error is SequencerError {
  if (!(error instanceof SequencerError)) return false;
  const { code, httpStatus } = error;
  return code === 'sequencer_unreachable' || code === 'sequencer_timeout' || transientStatuses.includes(httpStatus);
}

/** The delay before retry `retry`, 0 for the first, in milliseconds. Undefined if the call must not be retried. */
export function retryDelayMs(
  error: unknown,
  retry: number,
  leftMs: number,
  random: () => number = Math.random,
): number | undefined {
  if (retry >= maxRetries || !isRetryable(error)) return undefined;
  const { retryAfterMs = 0 } = error;
  const delayMs = retryAfterMs + jitteredMs(exponentialBackoffMs({ firstMs: firstDelayMs }, retry), 1, random);
  return retryAfterMs > longestRetryAfterMs || leftMs - delayMs < shortestAttemptMs ? undefined : delayMs;
}

/** Retries earned by each call. */
const perCall = 0.2;
/** Retries earned in each second, so on a site with few calls all of them may be retried. */
const perSecond = 0.2;
const burst = 10;

/** A token bucket for the retries of all operations. It limits the load to about 1.2 times the calls. */
export class RetryBudget {
  #tokens = burst;
  #countedAtMs = performance.now();

  /** Call it once for each call, before its first attempt. */
  earn(): void {
    this.#tokens = Math.min(burst, this.#tokens + perCall);
  }

  /** Spends one retry. @returns whether the budget allowed it */
  spend(): boolean {
    const nowMs = performance.now();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1_000) * perSecond);
    this.#countedAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
