import type { Settings } from '../options.js';
import { isFinalRefusal, isServiceFailure, isServiceRefusal, type Problem, requestJson } from './api.js';
import { retryUntil } from './retry.js';

/** The time in which a retry can be scheduled. The last delay takes 4 to 6 s. */
const retryWindowMs = 7_000;

/** What the site answers to `POST /intent`. */
export interface IntentResponse {
  readonly client_secret: string;
}

/**
 * Creates intents on the site, with retries during a restart or a short outage. A payment keeps its idempotency key while
 * the answer may be lost, so no second intent is created. A login gets a new key, because its time to live starts at its
 * creation.
 */
export class IntentCreator {
  /** Set while a retry must not create a second intent. */
  #key: string | undefined;

  /** The next intent gets a new key. */
  reset(): void {
    this.#key = undefined;
  }

  /** @param onRetry called before each retry but the first, because a single failure is not displayed */
  create(
    { mode, routes, orderJson }: Settings,
    signal: AbortSignal,
    onRetry: (state: 'offline' | 'silent') => void,
  ): Promise<IntentResponse> {
    let repeatedKey: string | false | undefined;
    let isSilent = false;
    const mayRetry = (problem: Problem): boolean => {
      const { status } = problem;
      isSilent = isServiceFailure(problem);
      // Retries without an answer, and after a 502, 503 or 504, unless the payment service refused this intent.
      if (!isFinalRefusal(problem)) return !status || (status > 501 && !isServiceRefusal(problem));
      this.#key = undefined;
      // The server has already received this key with a different request.
      return !!repeatedKey && status === 422;
    };
    return retryUntil(signal, retryWindowMs, mayRetry, async (failures) => {
      if (failures > 1) onRetry(isSilent ? 'silent' : 'offline');
      repeatedKey = mode === 'payment' && this.#key;
      this.#key = repeatedKey || crypto.randomUUID();
      return requestJson<IntentResponse>(routes.intent, signal, orderJson, this.#key);
    });
  }
}
