import { exponentialBackoffMs, jitteredMs } from '../../async/backoff.js';
import { SequencerError } from '../../errors.js';
import { nameOf, type Operation, operations } from '../../wire/envelope.js';

/** Tries after the first. */
const maxRetries = 2;
/** The first delay is up to this long, the second up to twice as long: full jitter, so that calls do not return as one. */
const firstDelayMs = 100;
/** If the service asks for a longer pause, the caller gets its error. */
const longestRetryAfterMs = 5_000;
/** With less time left a try is only load. */
const shortestTryMs = 20;

/**
 * The operations that may be sent twice: those that only read, and those that say so (protocol section 6, "sending the same
 * request again is fine and changes nothing"). A retry sends the same bytes, with their signature.
 */
const repeatable: ReadonlySet<string> = new Set(
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

/** Whether a call whose answer was lost may be sent again. */
export function isRepeatable(operation: Operation): boolean {
  return repeatable.has(nameOf(operation));
}

/** Too many requests, bad gateway, unavailable, gateway timeout. */
const passingStatuses: readonly (number | undefined)[] = [429, 502, 503, 504];

/**
 * Whether the same bytes may succeed when they are sent again. Not after a refusal or an answer that cannot be read, which
 * would come again; and not after status 500, with which a service says that it failed on these very bytes.
 */
function isRetryable(error: unknown): error is SequencerError {
  if (!(error instanceof SequencerError)) return false;
  const { code, httpStatus } = error;
  return code === 'sequencer_unreachable' || code === 'sequencer_timeout' || passingStatuses.includes(httpStatus);
}

/**
 * How long to wait before retry `retry` (0 is the first), in milliseconds; undefined if the call must not be sent again, or
 * too little time would be left for it.
 */
export function retryDelayMs(
  error: unknown,
  retry: number,
  leftMs: number,
  random: () => number = Math.random,
): number | undefined {
  if (retry >= maxRetries || !isRetryable(error)) return undefined;
  const { retryAfterMs = 0 } = error;
  const delayMs = retryAfterMs + jitteredMs(exponentialBackoffMs({ firstMs: firstDelayMs }, retry), 1, random);
  return retryAfterMs > longestRetryAfterMs || leftMs - delayMs < shortestTryMs ? undefined : delayMs;
}

/** Retries that each call earns. */
const perCall = 0.2;
/** Retries that are earned each second as well: on a quiet site every call may be retried. */
const perSecond = 0.2;
/** No more are saved up. */
const burst = 10;

/** Limits the retries of all operations: a token bucket that keeps the load on the service under 1.2 times the calls. */
export class RetryBudget {
  #tokens = burst;
  #countedAtMs = performance.now();

  /** A call is sent for the first time. */
  earn(): void {
    this.#tokens = Math.min(burst, this.#tokens + perCall);
  }

  /** Whether a retry is allowed. If so, it is counted. */
  spend(): boolean {
    const nowMs = performance.now();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1_000) * perSecond);
    this.#countedAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
