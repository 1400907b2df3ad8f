import { NativePromise } from '../built-ins.js';
import type { Emit } from '../events.js';
import type { Settings } from '../options.js';
import { isFinalRefusal, isServiceFailure, isServiceRefusal, type Problem, requestJson } from './api.js';
import { retryUntil } from './retry.js';

/** The time in which a retry can be scheduled. The last delay takes 4 to 6 s. */
const retryWindowMs = 7_000;

/** What the site answers to `POST /intent`. */
interface IntentResponse {
  readonly client_secret: string;
}

/** The client secret of an attempt. */
export interface ObtainedSecret {
  readonly secret: string;
  /** Whether the page provided it. Otherwise it is from `POST /intent`. */
  readonly isFromPage: boolean;
  /** Its time begins then, also if the dialog is loaded later. */
  readonly obtainedAtMs: number;
}

export const secretOfPage = (secret: string): ObtainedSecret => ({
  secret,
  isFromPage: true,
  obtainedAtMs: Date.now(),
});

/**
 * Provides the client secret of each attempt. It comes from the page, or from `POST /intent`, with retries during a restart or a
 * short outage. A payment keeps its idempotency key while the answer may be lost, so no second intent is created. A login gets a
 * new key, because its time to live starts at its creation.
 */
export class SecretSource {
  /** The secret that the page has set for the current attempt, or for the next one. */
  #provided: ObtainedSecret | undefined;
  /** Set during an attempt. */
  #onProvided: (() => void) | undefined;
  /** Set while a retry must not create a second intent. */
  #key: string | undefined;

  provide(clientSecret: string): void {
    this.#provided = secretOfPage(clientSecret);
    this.#onProvided?.();
  }

  /** A secret that the page has provided since the last was obtained. */
  takeProvided(): ObtainedSecret | undefined {
    const provided = this.#provided;
    this.#provided = undefined;
    return provided;
  }

  /** The attempt shows its code. A provided secret is discarded, because a later attempt may be for another order. */
  discard(): void {
    this.reset();
    this.#provided = undefined;
  }

  /** The attempt has ended. The next intent gets a new key. */
  reset(): void {
    // The next attempt may be for another order.
    if (this.#onProvided) this.#provided = undefined;
    this.#key = undefined;
    this.#onProvided = undefined;
  }

  /** @param onRetry called before each retry but the first, because a single failure is not displayed */
  async obtain(
    settings: Settings,
    signal: AbortSignal,
    emit: Emit,
    onRetry: (state: 'offline' | 'silent') => void,
  ): Promise<ObtainedSecret> {
    // Set aside to distinguish an older secret from one that a handler of `invoke` provides.
    const { login } = settings;
    const before = this.takeProvided() ?? (login?.clientSecret ? secretOfPage(login.clientSecret) : undefined);
    const providing = new NativePromise<void>((resolve) => {
      this.#onProvided = resolve;
    });
    const isPrevented = await emit('invoke', { mode: settings.mode, order: settings.order });
    // An aborted attempt must not take the secret of the next one.
    signal.throwIfAborted();
    if (isPrevented) await providing;
    else if (!this.#provided && !before) {
      const creation = new AbortController();
      signal.addEventListener('abort', () => creation.abort());
      // The secret of the page replaces the created one, as it replaces a code on the screen.
      const created = await NativePromise.race([this.#create(settings, creation.signal, onRetry), providing]);
      this.#key = undefined;
      // Not aborted: monitoring scripts of the page read a copy of the answer.
      if (created) return { secret: created.client_secret, isFromPage: false, obtainedAtMs: Date.now() };
      creation.abort();
    }
    return (this.takeProvided() ?? before) as ObtainedSecret;
  }

  #create(
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
