import { IntentError } from '../errors.js';
import { signLoginIntent } from '../intents/login-intent.js';
import { signPaymentIntent } from '../intents/payment-intent.js';
import type { SignedIntent } from '../intents/signed-intent.js';
import type { Signer } from '../keys/verifier-key.js';
import { createIntent, type Dialect, getStatus, getUserId, type IntentStatus, registerWebhook } from './calls.js';
import { closableWatch } from './closable-watch.js';
import { isTimeout } from './http-transport.js';
import type { IntentEvent } from './intent-event.js';
import { defaultTryTimeoutMs, resilientTransport } from './resilient-transport.js';
import type { CallOptions, Transport } from './transport.js';
import { type ServiceAddress, transportTo } from './transport-to.js';
import { watchIntent } from './watch-intent.js';

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

/** Who verifies a login, and where the key is published (interface section 4.7). */
export interface LoginParameters {
  /** Base58 public key; its signer must be among `signers`. */
  readonly verifier: string;
  /** Bare registrable name, such as `example.com`. */
  readonly domain: string;
}

export interface CreatePaymentParameters {
  /** Base58 account that receives the payment. */
  readonly destination: string;
  /** Decimal string or number with at most two decimals; at least 0.05 usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code. */
  readonly currency: string;
  /** Logs the payer in as well; needs `signers`. */
  readonly login?: LoginParameters | undefined;
  readonly signers?: readonly Signer[] | undefined;
}

export interface CreateLoginParameters {
  readonly login: LoginParameters;
  readonly signers: readonly Signer[];
}

/** The operations of an integrator's server (interface section 4.7). */
export interface IntentClient {
  readonly paymentIntents: {
    /** @throws {IntentError} for terms that are wrong, before anything is sent @throws {SequencerError} without an OK */
    create(parameters: CreatePaymentParameters, options?: CallOptions): Promise<CreatedIntent>;
    /** @throws {IntentError} `invalid_id` @throws {SequencerError} */
    getStatus(id: string, options?: CallOptions): Promise<IntentStatus>;
  };
  readonly loginIntents: {
    /** @throws {IntentError} for terms that are wrong, before anything is sent @throws {SequencerError} without an OK */
    create(parameters: CreateLoginParameters, options?: CallOptions): Promise<CreatedIntent>;
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
    options?: CallOptions,
  ): AsyncIterable<IntentEvent>;
  /** Lets running calls end, ends watches and closes the connections. */
  close(): Promise<void>;
}

/**
 * A client of the sequencer, for use with or without Express.
 * @throws {IntentError} `invalid_configuration` when none of `url`, `grpcUrl` and `transport` is of use
 */
export function createIntentClient(options: IntentClientOptions = {}): IntentClient {
  const { dialect = 'intents' } = options;
  if (dialect !== 'intents' && dialect !== 'messaging') {
    throw new IntentError('invalid_configuration', "dialect must be 'intents' or 'messaging'.");
  }
  const bounds = requireTimeouts(options);
  const transport = resilientTransport(options.transport ?? transportTo(options, bounds.timeoutMs), bounds);
  const send = async (signing: Promise<SignedIntent>, callOptions?: CallOptions): Promise<CreatedIntent> => {
    const intent = await signing;
    await createIntent(transport, dialect, intent, callOptions);
    return { id: intent.id, clientSecret: intent.clientSecret };
  };
  const status = (id: string, callOptions?: CallOptions) => getStatus(transport, id, callOptions);
  const watches = closableWatch(watchIntent(transport));
  return Object.freeze({
    paymentIntents: Object.freeze({
      create: (parameters: CreatePaymentParameters, callOptions?: CallOptions) =>
        send(signPayment(parameters, dialect), callOptions),
      getStatus: status,
    }),
    loginIntents: Object.freeze({
      create: (parameters: CreateLoginParameters, callOptions?: CallOptions) =>
        send(signLogin(parameters), callOptions),
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

async function signPayment(parameters: CreatePaymentParameters, dialect: Dialect): Promise<SignedIntent> {
  const { destination, amount, currency, login, signers = [] } = parameters;
  const terms = { destination, amount, currency, login: login && withSigner(login, signers) };
  return signPaymentIntent(terms, { nameRendezvous: dialect === 'intents' });
}

async function signLogin({ login, signers = [] }: CreateLoginParameters): Promise<SignedIntent> {
  return signLoginIntent(withSigner(login, signers));
}

function withSigner(
  { verifier, domain }: LoginParameters,
  signers: readonly Signer[],
): { domain: string; verifier: Signer } {
  const signer = signers.find(({ publicKey }) => publicKey === verifier);
  if (!signer) throw new IntentError('invalid_key', 'signers must include the signer of the verifier.');
  return { domain, verifier: signer };
}
