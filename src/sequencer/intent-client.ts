import { IntentError } from '../errors.js';
import type { SignedIntent } from '../intents/signed-intent.js';
import type { Signer } from '../keys/verifier-key.js';
import { createIntent, type Dialect, getStatus, getUserId, type IntentStatus, registerWebhook } from './calls.js';
import { isTimeout } from './http/http-transport.js';
import {
  type CreateLoginParameters,
  type CreatePaymentParameters,
  signLogin,
  signPayment,
} from './intent-parameters.js';
import {
  type CallObserver,
  defaultTryTimeoutMs,
  resilientTransport,
  type ServiceState,
} from './resilience/resilient-transport.js';
import type { Caller, CallOptions, Transport } from './transport.js';
import { type ServiceAddress, transportTo } from './transport-to.js';
import { closableWatch } from './watch/closable-watch.js';
import type { IntentEvent } from './watch/intent-event.js';
import { watchIntent } from './watch/watch-intent.js';

/** Where the service is and how it is asked. */
export interface IntentClientOptions extends ServiceAddress {
  /** Default `intents`. */
  readonly dialect?: Dialect | undefined;
  /** Bound of one call over all its tries, in milliseconds. Default 8000. */
  readonly timeoutMs?: number | undefined;
  /** Bound of one try of a call that may be repeated, in milliseconds. Default: `timeoutMs`, at most 3000. */
  readonly tryTimeoutMs?: number | undefined;
  /** Another way to the service than HTTP and gRPC. */
  readonly transport?: Transport | undefined;
}

/** An intent that the sequencer has accepted (interface section 2.8). */
export interface CreatedIntent {
  /** Base58, public: the key to ask for the status with. */
  readonly id: string;
  /** For the browser that began the intent and for nobody else: whoever has it owns the intent. */
  readonly clientSecret: string;
}

/** An intent that is signed and was not sent yet. The same terms, signers and client secret make the same one again. */
export interface PreparedIntent extends CreatedIntent {
  /**
   * Sends it. Each call sends the same bytes, which the sequencer takes as one intent, so that this can be called again
   * when nobody knows what became of the call before. Until it has resolved nobody may see the client secret: who
   * knows it can be first to create the intent, with terms of his own.
   * @throws {SequencerError} without an OK
   */
  create(options?: CallOptions): Promise<CreatedIntent>;
}

/** The operations of an integrator's server (interface section 4.7). */
export interface IntentClient {
  /** Payments (interface section 2.4). */
  readonly paymentIntents: {
    /** @throws {IntentError} for terms that are wrong, before anything is sent @throws {SequencerError} without an OK */
    create(parameters: CreatePaymentParameters, options?: CallOptions): Promise<CreatedIntent>;
    /**
     * Signs an intent, for who writes it down before it is sent.
     * @throws {IntentError} for terms that are wrong; `invalid_client_secret` also for one of another kind, amount or currency
     */
    prepare(parameters: CreatePaymentParameters): Promise<PreparedIntent>;
    /** @throws {IntentError} `invalid_id` @throws {SequencerError} */
    getStatus(id: string, options?: CallOptions): Promise<IntentStatus>;
  };
  /** Logins (interface section 2.5). */
  readonly loginIntents: {
    /** @throws {IntentError} for terms that are wrong, before anything is sent @throws {SequencerError} without an OK */
    create(parameters: CreateLoginParameters, options?: CallOptions): Promise<CreatedIntent>;
    /** As that of payments. */
    prepare(parameters: CreateLoginParameters): Promise<PreparedIntent>;
    /** @throws {IntentError} `invalid_id` @throws {SequencerError} */
    getStatus(id: string, options?: CallOptions): Promise<IntentStatus>;
    /** The user's id at this domain. @throws {IntentError} `login_pending`, `intent_not_found` @throws {SequencerError} */
    getUserId(parameters: { intent: string; verifier: Signer }, options?: CallOptions): Promise<{ userId: string }>;
  };
  /**
   * Has the service call `url` once the intent is submitted; does nothing where the intent has a webhook already.
   * @throws {IntentError} `invalid_id`, `intent_not_found`
   * @throws {SequencerError} also for a URL that the service does not take, and once the intent is submitted
   */
  registerWebhook(parameters: { intent: string; url: string }, options?: CallOptions): Promise<void>;
  /**
   * Follows an intent until it is submitted: `for await (const { kind } of client.watch({ id, clientSecret }))`. With the
   * client secret over the message stream (interface section 4.5), without it by asking for the status every few seconds.
   * Yields each event once, and `intent_submitted`, which is the sequencer's own word, as the last. Faults of the service
   * do not end it; a `break`, the signal and `close` do.
   * @throws {IntentError} `invalid_id`, `invalid_client_secret`
   */
  watch(
    intent: { readonly id: string; readonly clientSecret?: string | undefined },
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<IntentEvent>;
  /** Lets running calls end, ends watches and closes the connections. */
  close(): Promise<void>;
}

/**
 * A client of the sequencer, for use with or without Express.
 * @throws {IntentError} `invalid_configuration` when none of `url`, `grpcUrl` and `transport` is of use
 */
export function createIntentClient(options: IntentClientOptions = {}): IntentClient {
  return observedClient(options).client;
}

/** A client, and what its calls have shown of the service. */
export interface ObservedClient {
  readonly client: IntentClient;
  readonly service: () => ServiceState;
}

/**
 * The same as `createIntentClient`, for who looks after the service as well.
 * @param observer looks on while it is called
 * @throws as it
 */
export function observedClient(options: IntentClientOptions, observer?: CallObserver): ObservedClient {
  const { dialect = 'intents' } = options;
  if (dialect !== 'intents' && dialect !== 'messaging') {
    throw new IntentError('invalid_configuration', "dialect must be 'intents' or 'messaging'.");
  }
  const bounds = requireTimeouts(options);
  const inner = options.transport ?? transportTo(options, bounds.timeoutMs);
  const transport = resilientTransport(inner, { ...bounds, observer });
  return { client: clientOver(transport, dialect), service: transport.service };
}

function clientOver(transport: Transport & Caller, dialect: Dialect): IntentClient {
  const prepared = (intent: SignedIntent): PreparedIntent => {
    const { id, clientSecret } = intent;
    const create = async (callOptions?: CallOptions): Promise<CreatedIntent> => {
      await createIntent(transport, dialect, intent, callOptions);
      return { id, clientSecret };
    };
    return Object.freeze({ id, clientSecret, create });
  };
  const preparePayment = async (given: CreatePaymentParameters) => prepared(await signPayment(given, dialect));
  const prepareLogin = async (given: CreateLoginParameters) => prepared(await signLogin(given));
  const status = (id: string, callOptions?: CallOptions) => getStatus(transport, id, callOptions);
  const watches = closableWatch(watchIntent(transport));
  return Object.freeze({
    paymentIntents: Object.freeze({
      create: async (parameters: CreatePaymentParameters, callOptions?: CallOptions) =>
        (await preparePayment(parameters)).create(callOptions),
      prepare: preparePayment,
      getStatus: status,
    }),
    loginIntents: Object.freeze({
      create: async (parameters: CreateLoginParameters, callOptions?: CallOptions) =>
        (await prepareLogin(parameters)).create(callOptions),
      prepare: prepareLogin,
      getStatus: status,
      getUserId: async ({ intent, verifier }: { intent: string; verifier: Signer }, callOptions?: CallOptions) => ({
        userId: await getUserId(transport, intent, verifier, callOptions),
      }),
    }),
    registerWebhook: ({ intent, url }: { intent: string; url: string }, callOptions?: CallOptions) =>
      registerWebhook(transport, intent, url, callOptions),
    watch: watches.watch,
    close: () => {
      watches.close();
      return transport.close();
    },
  });
}

interface Timeouts {
  readonly timeoutMs: number;
  readonly tryTimeoutMs: number;
}

function requireTimeouts({ timeoutMs = 8_000, tryTimeoutMs }: IntentClientOptions): Timeouts {
  const timeouts = { timeoutMs, tryTimeoutMs: tryTimeoutMs ?? defaultTryTimeoutMs(timeoutMs) };
  for (const [name, value] of Object.entries(timeouts)) {
    if (isTimeout(value)) continue;
    const message = `${name} must be a whole number of milliseconds, 1 to 2147483647.`;
    throw new IntentError('invalid_configuration', message);
  }
  return timeouts;
}
