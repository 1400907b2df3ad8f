import { exponentialBackoffMs } from '../async/backoff.js';
import { delayUnlessAborted, withTimeout } from '../async/timeout.js';
import { IntentError, SequencerError } from '../errors.js';
import type { SignedIntent } from '../intents/signed-intent.js';
import { bytesToSign } from '../intents/signed-intent.js';
import { formatBase58, parseIntentId } from '../keys/base58.js';
import { requireSigner, type Signer, signChecked } from '../keys/verifier-key.js';
import { parseVerifyingKey } from '../keys/verifying-key.js';
import { decode, encode, v1 } from '../wire/codec.js';
import { nameOf, type Operation, operations, otherServerError } from '../wire/envelope.js';
import { answerTimeoutError, type CallOptions, type CallTransport, requireCallOptions } from './transport.js';

/** How intents are sent: by `Intents.createIntent`, or `Messaging.sendMessage` if only that is deployed. */
export type Dialect = 'intents' | 'messaging';

/** The three flags of an intent at the sequencer (interface section 2.6). Its state in the ledger is `IntentState`. */
export interface IntentStatus {
  /** Whether the sequencer knows the intent. */
  readonly exists: boolean;
  /** Whether a wallet scanned the QR code. For display only: anyone who sees it can report a scan. */
  readonly codeScanned: boolean;
  /**
   * Whether a wallet has paid or confirmed the intent. May become false again, because the sequencer can reverse a
   * payment.
   */
  readonly intentSubmitted: boolean;
}

/** An intent (interface section 2.8). `create` returns it after the sequencer has accepted it. */
export interface CreatedIntent {
  /** The intent id, Base58. Public. It identifies the intent in every other call. */
  readonly id: string;
  /** Only for the browser that created the intent. Anyone who has it controls the intent. */
  readonly clientSecret: string;
}

/** All statuses. They are shared, so a cached status takes no memory of its own. */
const statuses: readonly IntentStatus[] = Array.from({ length: 8 }, (_, flags) =>
  Object.freeze({ exists: (flags & 4) > 0, codeScanned: (flags & 2) > 0, intentSubmitted: (flags & 1) > 0 }),
);

/** A status as a number from 0 to 7. */
export function flagsOf({ exists, codeScanned, intentSubmitted }: IntentStatus): number {
  return (exists ? 4 : 0) + (codeScanned ? 2 : 0) + (intentSubmitted ? 1 : 0);
}

/** How a client creates intents. */
export interface CreateOptions {
  readonly dialect: Dialect;
  /** How long a creation may take until it is proven, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Sends a signed intent (interface section 4.3). Resolves only when the intent is proven to exist at the sequencer.
 *
 * The OK of the envelope (section 7.1) does not prove it, because a proxy can send it too. If the answer does not prove
 * that the intent exists, its status is requested.
 * @throws {SequencerError} `intent_refused` if the service refuses the terms; `sequencer_bad_response` without a proof
 */
export async function createIntent(
  transport: CallTransport,
  { dialect, timeoutMs }: CreateOptions,
  intent: SignedIntent,
  options?: CallOptions,
): Promise<CreatedIntent> {
  requireCallOptions('intent.create', options);
  const { operation, request, isProof } = creations[dialect];
  const begunAtMs = performance.now();
  let isProven: boolean;
  try {
    isProven = isProof(await transport.call(operation, request(intent), options));
  } catch (error) {
    throw explainRefusal(error, dialect);
  }
  const { id, clientSecret } = intent;
  if (!isProven) await requireExistence(transport, id, { begunAtMs, timeoutMs }, options);
  return { id, clientSecret };
}

/** The pauses between the requests for the status of a new intent. A replica of the sequencer may lag by half a second. */
const replicaPauses = { firstMs: 100, capMs: 1_000 };

/** Requests the status until the intent exists. */
async function requireExistence(
  transport: CallTransport,
  id: string,
  { begunAtMs, timeoutMs }: { readonly begunAtMs: number; readonly timeoutMs: number },
  { signal, cancelBeforeSend }: CallOptions = {},
): Promise<void> {
  let isKnownAbsent = false;
  const waitForExistence = async (ending: AbortSignal): Promise<void> => {
    const options = { signal: ending, cancelBeforeSend };
    for (let retry = 0; !(await getStatus(transport, id, options)).exists; retry += 1) {
      isKnownAbsent = true;
      await delayUnlessAborted(exponentialBackoffMs(replicaPauses, retry), [ending, cancelBeforeSend]);
    }
  };
  // The reason that ends a running request must not be a SequencerError, which would count as an answer of the service.
  const expired = new Error('The time of the call is over.');
  const leftMs = begunAtMs + timeoutMs - performance.now();
  try {
    await withTimeout(leftMs, waitForExistence, { signal, error: () => expired, ref: true });
  } catch (error) {
    if (error !== expired) throw error;
    if (!isKnownAbsent) throw answerTimeoutError(timeoutMs);
    throw otherServerError(
      `The sequencer answered OK, but the intent does not exist there, also not ${timeoutMs} ms after the call began.`,
    );
  }
}

/** How a dialect creates an intent, and whether an answer proves that the intent exists. */
interface Creation {
  readonly operation: Operation;
  readonly request: (intent: SignedIntent) => Uint8Array;
  readonly isProof: (answer: Uint8Array) => boolean;
}

const creations: Readonly<Record<Dialect, Creation>> = {
  /** `Intents.createIntent` returns the status of the intent (interface section 1, item 5). */
  intents: {
    operation: operations.createIntent,
    request: ({ signature, signedBytes }) => {
      // The signature is field 3. The signed bytes, which are field 5 or 10, follow unchanged.
      const field = encode(v1.Message, { sendMessageRequestSignature: { value: signature } });
      return Buffer.concat([field, signedBytes]);
    },
    isProof: (answer) => {
      // Throws if the bytes are not this message. With unknown fields they are valid, but prove nothing.
      decodeResponse(v1.GetStatusResponse, answer);
      return existingStatus.test(Buffer.from(answer).toString('hex'));
    },
  },
  /** `Messaging.sendMessage` returns the message id that the sequencer assigned. */
  messaging: {
    operation: operations.sendMessage,
    request: ({ message, rendezvousKey, signature }) =>
      encode(v1.SendMessageRequest, {
        message,
        rendezvousKey: { value: rendezvousKey },
        signature: { value: signature },
      }),
    isProof: (answer) => {
      const { result, messageId } = decodeResponse(v1.SendMessageResponse, answer);
      requireOk(result);
      return (messageId?.value?.length ?? 0) > 0;
    },
  },
};

/** A GetStatusResponse in hex, with `exists` and no fields except the three flags. A flag is 00 or 01. */
const existingStatus = /^0801(?:100[01])?(?:180[01])?$/;

/** The error texts of services for an unknown operation, such as "Invalid service name". */
const unknownOperation = [
  /\b(?:invalid|unknown|unsupported|unimplemented|no such|not implement(?: the)?) (?:service|method|operation|rpc)\b/i,
  /\b(?:service|(?<!payment )method|operation)(?: name)?(?: \S{1,80})?(?: is)? (?:invalid|unknown|not (?:found|supported|implemented))\b/i,
];

/** Whether the service refused a call because it does not have the operation. */
export function isUnknownOperation(error: unknown): error is SequencerError {
  if (!(error instanceof SequencerError) || error.code !== 'sequencer_error') return false;
  const { message, serviceMessage = '' } = error;
  return message.includes('UNIMPLEMENTED') || unknownOperation.some((form) => form.test(serviceMessage));
}

/** A refusal with a reason concerns this intent. A refusal without one may have any cause. */
function explainRefusal(error: unknown, dialect: Dialect): unknown {
  if (!(error instanceof SequencerError) || error.code !== 'sequencer_error') return error;
  const { serviceMessage, cause } = error;
  if (isUnknownOperation(error)) {
    const [used, other] = dialect === 'intents' ? ['createIntent', 'messaging'] : ['sendMessage', 'intents'];
    const message =
      `The sequencer has no operation ${nameOf(operations[used as 'createIntent'])}. Try the option dialect: '${other}'. Over ` +
      'gRPC, set grpcNames if its operations have other names.';
    return new SequencerError('sequencer_error', message, { serviceMessage, cause });
  }
  if (!serviceMessage) return error;
  return new SequencerError(
    'intent_refused',
    'The sequencer refused the intent. See `serviceMessage` for the reason.',
    { serviceMessage, cause },
  );
}

/**
 * Requests the status of an intent (interface section 4.4).
 * @param owner the function that the caller called @throws {IntentError} `invalid_id`, `invalid_request` @throws {SequencerError}
 */
export async function getStatus(
  transport: CallTransport,
  id: string,
  options?: CallOptions,
  owner = 'getStatus',
): Promise<IntentStatus> {
  requireCallOptions(owner, options);
  const request = encode(v1.GetStatusRequest, { intentId: { value: parseIntentId(id) } });
  const answer = await transport.call(operations.getStatus, request, options);
  return statuses[flagsOf(decodeResponse(v1.GetStatusResponse, answer))] as IntentStatus;
}

/**
 * Requests the user who logged in (interface section 4.7, "get user id"). @returns the user id, Base58
 * @throws {IntentError} `invalid_id`, `intent_not_found`, `not_supported`, `login_pending`, `invalid_key`, `signer_failed`
 * @throws {SequencerError}
 */
export async function getUserId(
  transport: CallTransport,
  id: string,
  verifier: Signer,
  options?: CallOptions,
): Promise<string> {
  requireSigner('verifier', verifier);
  const codec = v1.GetLoginForThirdPartyAppRequest;
  const request = {
    intentId: { value: parseIntentId(id) },
    verifier: { value: parseVerifyingKey(verifier.publicKey) },
  };
  const signature = { value: await signChecked(verifier, bytesToSign(codec, request)) };
  const body = encode(codec, { ...request, signature });
  const answer = await transport.call(operations.getLoginForThirdPartyApp, body, options);
  return readUserId(decodeResponse(v1.GetLoginForThirdPartyAppResponse, answer));
}

/**
 * The user who logged in with an intent (interface section 4.7). The sequencer answers only the key that the intent names:
 * the signing key, or an earlier one if the intent was created before a rotation.
 * @throws as {@link getUserId}
 */
export async function fetchUserId(
  transport: CallTransport,
  signers: readonly Signer[],
  id: string,
  options?: CallOptions,
): Promise<string> {
  let unknown: unknown;
  for (const verifier of signers) {
    try {
      return await getUserId(transport, id, verifier, options);
    } catch (error) {
      if (!(error instanceof IntentError && error.code === 'intent_not_found')) throw error;
      unknown ??= error;
    }
  }
  throw unknown;
}

function readUserId({ result, userId }: v1.GetLoginForThirdPartyAppResponse.$Properties): string {
  const { Result } = v1.GetLoginForThirdPartyAppResponse;
  if (result === Result.REQUEST_NOT_FOUND) throw new IntentError('intent_not_found');
  if (result === Result.LOGIN_NOT_SUPPORTED)
    throw new IntentError(
      'not_supported',
      'This intent has no login. Pass the id of a login, or of a payment with a login.',
    );
  if (result === Result.NO_USER_LOGGED_IN) throw new IntentError('login_pending');
  requireOk(result);
  if (userId?.value?.length !== 32) {
    throw new SequencerError(
      'sequencer_bad_response',
      'The response of the sequencer has no user id of 32 bytes. Report this to the operator of the sequencer.',
    );
  }
  return formatBase58(userId.value);
}

/**
 * Registers a webhook: the service calls `url` when the intent is submitted (protocol section 5). An intent has at
 * most one webhook. If it already has one, the call succeeds and changes nothing.
 * @throws {IntentError} `invalid_id`, `intent_not_found`
 * @throws {SequencerError} `sequencer_error` also if the service refuses the URL, or the intent is already submitted
 */
export async function registerWebhook(
  transport: CallTransport,
  id: string,
  url: string,
  options?: CallOptions,
): Promise<void> {
  const request = encode(v1.RegisterWebhookRequest, { intentId: { value: parseIntentId(id) }, url });
  const answer = await transport.call(operations.registerWebhook, request, options);
  const { Result } = v1.RegisterWebhookResponse;
  const { result } = decodeResponse(v1.RegisterWebhookResponse, answer);
  if (result === Result.OK || result === Result.ALREADY_REGISTERED) return;
  if (result === Result.REQUEST_NOT_FOUND) throw new IntentError('intent_not_found');
  const reason = Result[result] ?? result;
  const message = `The sequencer refused the webhook: ${reason}.${webhookAdvice[result ?? 0] ?? ''}`;
  throw new SequencerError('sequencer_error', message);
}

const webhookAdvice: Readonly<Record<number, string>> = {
  [v1.RegisterWebhookResponse.Result.INTENT_EXISTS]: ' The intent is submitted and needs no webhook.',
  [v1.RegisterWebhookResponse.Result.INVALID_URL]: ' The webhook URL must be https and reachable from the internet.',
};

/** Every result except OK is a refusal, including results that this version does not know. */
function requireOk(result: number | null | undefined): void {
  if ((result ?? 0) !== 0)
    throw new SequencerError(
      'sequencer_error',
      `The sequencer answered with result ${result}. Ask the operator of the sequencer for its meaning.`,
    );
}

function decodeResponse<Decoded>(codec: { decode(bytes: Uint8Array): Decoded } & EncodeOf, bytes: Uint8Array): Decoded {
  try {
    return decode(codec, bytes);
  } catch (cause) {
    throw otherServerError('The response of the sequencer cannot be decoded.', cause);
  }
}

type EncodeOf = { encode(message: never): { finish(): Uint8Array } };
