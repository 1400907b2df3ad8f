import { isTimerDelay } from '../async/timeout.js';
import { withCallerStacks } from '../caller-stack.js';
import { IntentError } from '../errors.js';
import type { SignedIntent } from '../intents/signed-intent.js';
import type { Signer } from '../keys/verifier-key.js';
import { requireKnown } from '../reject-unknown.js';
import {
  type CreatedIntent,
  type CreateOptions,
  createIntent,
  type Dialect,
  fetchUserId,
  getStatus,
  getUserId,
  type IntentStatus,
  registerWebhook,
} from './calls.js';
import { createTransport, type ServiceAddress, serviceAddressNames } from './create-transport.js';
import {
  type CreateLoginParameters,
  type CreatePaymentParameters,
  signLogin,
  signPayment,
} from './intent-parameters.js';
import {
  type ResilienceOptions,
  type ResilientTransport,
  resilientTransport,
  type ServiceState,
} from './resilience/resilient-transport.js';
import { type CallOptions, requireCallOptions, type Transport } from './transport.js';
import type { IntentEvent, WatchIntent } from './watch/intent-event.js';
import { watchIntent } from './watch/watch-intent.js';

/** The address of the service, and the options of its calls. */
export interface IntentClientOptions extends ServiceAddress {
  /** Default `intents`. */
  readonly dialect?: Dialect | undefined;
  /**
   * Timeout of one call with all its retries, and of the creation of an intent with its proof, in milliseconds. Default 8000.
   * An attempt that may be retried gets three eighths of it, or 3000 ms if that is longer, and never more than the whole.
   */
  readonly timeoutMs?: number | undefined;
  /** A transport of your own, instead of HTTP or gRPC. */
  readonly transport?: Transport | undefined;
}

/** An intent that is signed and not yet sent. The same terms, signers and client secret produce the same intent. */
export interface PreparedIntent extends CreatedIntent {
  /**
   * Sends the intent. Idempotent: each call sends the same bytes, and the sequencer creates one intent. Call it
   * again if the outcome of a call is unknown. Do not reveal the client secret before it resolves: anyone who knows it could
   * create the intent first, with other terms.
   * @throws {SequencerError} unless the sequencer accepts the intent
   */
  create(options?: CallOptions): Promise<CreatedIntent>;
}

/**
 * The operations of an integrator's server (interface section 4.7). Each call can also reject with an `IntentError` `too_busy` or
 * `invalid_request`, or with the reason of its signal.
 */
export interface IntentClient {
  /** Payments (interface section 2.4). */
  readonly paymentIntents: {
    /**
     * @throws {IntentError} for invalid terms, before anything is sent @throws {SequencerError} unless the sequencer
     * accepts the intent
     */
    create(parameters: CreatePaymentParameters, options?: CallOptions): Promise<CreatedIntent>;
    /**
     * Signs an intent without sending it, so that it can be recorded first.
     * @throws {IntentError} for invalid terms; `invalid_client_secret` also if the client secret has a different kind, amount or currency
     */
    prepare(parameters: CreatePaymentParameters): Promise<PreparedIntent>;
    /** @throws {IntentError} `invalid_id` @throws {SequencerError} */
    getStatus(id: string, options?: CallOptions): Promise<IntentStatus>;
  };
  /** Logins (interface section 2.5). */
  readonly loginIntents: {
    /** @throws as `paymentIntents.create` */
    create(parameters: CreateLoginParameters, options?: CallOptions): Promise<CreatedIntent>;
    /** Like `paymentIntents.prepare`. */
    prepare(parameters: CreateLoginParameters): Promise<PreparedIntent>;
    /** @throws {IntentError} `invalid_id` @throws {SequencerError} */
    getStatus(id: string, options?: CallOptions): Promise<IntentStatus>;
    /**
     * The id of the user who confirmed the intent. It differs for each wallet and each domain. `verifier` signs the
     * call with the key that the login names.
     * @throws {IntentError} `login_pending`, `intent_not_found`, `not_supported` for a payment without a login, `invalid_id`,
     *   `invalid_key`, `signer_failed` @throws {SequencerError}
     */
    getUserId(parameters: { intent: string; verifier: Signer }, options?: CallOptions): Promise<{ userId: string }>;
  };
  /**
   * Registers a webhook: the service calls `url` when the intent is submitted. Does nothing if the intent already has
   * one.
   * @throws {IntentError} `invalid_id`, `intent_not_found`
   * @throws {SequencerError} also if the service refuses the URL, or the intent is already submitted
   */
  registerWebhook(parameters: { intent: string; url: string }, options?: CallOptions): Promise<void>;
  /**
   * Watches an intent until it is submitted: `for await (const { kind } of client.watch({ id, clientSecret }))`. With
   * the client secret it reads the message stream (interface section 4.5), otherwise it polls the status every few
   * seconds. Yields each event once. The last is `intent_submitted`, which comes from the status at the sequencer.
   * Faults of the service do not end the watch. A `break`, the signal and `close` do.
   * @throws {IntentError} `invalid_id`, `invalid_client_secret`
   */
  watch(
    intent: { readonly id: string; readonly clientSecret?: string | undefined },
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<IntentEvent>;
  /** Waits for running calls, ends watches and closes the connections. */
  close(): Promise<void>;
}

/**
 * A client of the sequencer, for use with or without Express.
 * @throws {IntentError} `invalid_configuration` for an invalid or unknown option, or a missing address
 */
export function createIntentClient(options: IntentClientOptions = {}): IntentClient {
  const names = [...serviceAddressNames, 'dialect', 'timeoutMs', 'transport'];
  requireKnown('createIntentClient', options, names, 'invalid_configuration');
  return forCallers(observedClient(options).client);
}

/** The public form of a client: its errors show the line of the site that called it. */
export function forCallers({ paymentIntents, loginIntents, watch, ...methods }: IntentClient): IntentClient {
  return Object.freeze({
    ...withCallerStacks(methods),
    paymentIntents: withCallerStacks(paymentIntents),
    loginIntents: withCallerStacks(loginIntents),
    watch,
  });
}

export interface ObservedClient {
  readonly client: IntentClient;
  readonly serviceState: () => ServiceState;
  /** The user id of a login that was created with one of these keys. `close` waits for the calls with all keys. */
  readonly fetchUserId: (signers: readonly Signer[], intent: string, options?: CallOptions) => Promise<string>;
}

/** Like `createIntentClient`, for a caller that also reports the state of the service. @throws as `createIntentClient` */
export function observedClient(
  options: IntentClientOptions,
  observers: Pick<ResilienceOptions, 'observer' | 'onOutcome'> = {},
): ObservedClient {
  const { dialect = 'intents' } = options;
  if (dialect !== 'intents' && dialect !== 'messaging') {
    throw new IntentError('invalid_configuration', "dialect must be 'intents' or 'messaging'.");
  }
  const timeoutMs = requireTimeout(options);
  const inner = options.transport ?? createTransport(options, timeoutMs);
  const transport = resilientTransport(inner, { timeoutMs, ...observers });
  return {
    client: clientOver(transport, { dialect, timeoutMs }),
    serviceState: transport.serviceState,
    fetchUserId: (signers, intent, options) => transport.run((calls) => fetchUserId(calls, signers, intent, options)),
  };
}

function clientOver(transport: ResilientTransport, creating: CreateOptions): IntentClient {
  const { dialect } = creating;
  const watches = new RunningWatches(watchIntent(transport));
  const statusOf = (owner: string) => (id: string, options?: CallOptions) => getStatus(transport, id, options, owner);
  const paymentIntents: IntentClient['paymentIntents'] = {
    create: async (parameters, options) => {
      requireCallOptions('paymentIntents.create', options);
      return transport.run(async (calls) =>
        createIntent(calls, creating, await signPayment(parameters, dialect), options),
      );
    },
    prepare: async (parameters) => preparedIntent(transport, creating, await signPayment(parameters, dialect)),
    getStatus: statusOf('paymentIntents.getStatus'),
  };
  const loginIntents: IntentClient['loginIntents'] = {
    create: async (parameters, options) => {
      requireCallOptions('loginIntents.create', options);
      return transport.run(async (calls) => createIntent(calls, creating, await signLogin(parameters), options));
    },
    prepare: async (parameters) => preparedIntent(transport, creating, await signLogin(parameters)),
    getStatus: statusOf('loginIntents.getStatus'),
    getUserId: async (parameters, options) => {
      requireKnown('loginIntents.getUserId', parameters ?? null, ['intent', 'verifier']);
      requireCallOptions('loginIntents.getUserId', options);
      const { intent, verifier } = parameters;
      return { userId: await transport.run((calls) => getUserId(calls, intent, verifier, options)) };
    },
  };
  const client: IntentClient = {
    paymentIntents: Object.freeze(paymentIntents),
    loginIntents: Object.freeze(loginIntents),
    registerWebhook: async (parameters, options) => {
      requireKnown('client.registerWebhook', parameters ?? null, ['intent', 'url']);
      requireCallOptions('client.registerWebhook', options);
      return registerWebhook(transport, parameters.intent, parameters.url, options);
    },
    watch: (intent, options) => {
      // A prepared intent can be passed, and has `create`.
      requireKnown('client.watch', intent ?? null, ['id', 'clientSecret', 'create']);
      requireKnown('client.watch', options, ['signal']);
      return watches.watch(intent, options?.signal);
    },
    close: () => {
      watches.close();
      return transport.close();
    },
  };
  return Object.freeze(client);
}

function preparedIntent(transport: ResilientTransport, creating: CreateOptions, intent: SignedIntent): PreparedIntent {
  const { id, clientSecret } = intent;
  const create = (options?: CallOptions) => transport.run((calls) => createIntent(calls, creating, intent, options));
  return Object.freeze({ id, clientSecret, create });
}

function requireTimeout({ timeoutMs = 8_000 }: IntentClientOptions): number {
  if (isTimerDelay(timeoutMs)) return timeoutMs;
  const message = 'timeoutMs must be a whole number of milliseconds, 1 to 2147483647.';
  throw new IntentError('invalid_configuration', message);
}

/** The watches of a client. `close` ends them all. A watch started afterwards ends immediately. */
class RunningWatches {
  readonly #watchIntent: WatchIntent;
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor(watchIntent: WatchIntent) {
    this.#watchIntent = watchIntent;
  }

  async *watch(intent: Parameters<WatchIntent>[0], signal: AbortSignal | undefined): AsyncGenerator<IntentEvent, void> {
    // Each watch has its own controller: a shared signal would outlive the watches and retain a listener of each.
    const ending = new AbortController();
    if (this.#isClosed) ending.abort();
    this.#running.add(ending);
    try {
      yield* this.#watchIntent(intent, {
        signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal,
      });
    } finally {
      this.#running.delete(ending);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const ending of this.#running) ending.abort();
  }
}
