import { IntentError, SequencerError } from '../errors.js';
import type { SignedIntent } from '../intents/signed-intent.js';
import { unsignedBytes } from '../intents/signed-intent.js';
import { formatBase58, parseIntentId, parseVerifierKey } from '../keys/base58.js';
import { type Signer, signChecked } from '../keys/verifier-key.js';
import { decode, encode, v1 } from '../wire/codec.js';
import { operations } from '../wire/envelope.js';
import type { Caller, CallOptions } from './transport.js';

/** How intents reach the sequencer: `Intents.createIntent`, or `Messaging.sendMessage` where only that is deployed. */
export type Dialect = 'intents' | 'messaging';

/** The three flags of an intent, asked of the sequencer at one moment (interface sections 2.6 and 3). */
export interface IntentStatus {
  /** The sequencer knows the intent. */
  readonly exists: boolean;
  /** For display only: whoever sees the code can claim it. */
  readonly codeScanned: boolean;
  /** The signed intent was submitted. It may turn false again until the transactions have settled. */
  readonly intentSubmitted: boolean;
}

/** Sends a signed intent; returns only when the sequencer said OK (interface section 4.3). @throws {SequencerError} */
export async function createIntent(
  transport: Caller,
  dialect: Dialect,
  intent: SignedIntent,
  options?: CallOptions,
): Promise<void> {
  const signature = { value: intent.signature };
  if (dialect === 'intents') {
    // The signature is field 3, and in front of both kinds that are created: what it covers follows as it was signed.
    const field = encode(v1.Message, { sendMessageRequestSignature: signature });
    const request = Buffer.concat([field, intent.signedBytes]);
    const answer = await transport.call(operations.createIntent, request, options);
    requireOk(decodeAnswer(v1.CreateIntentResponse, answer).result);
  } else {
    const request = { message: intent.message, rendezvousKey: { value: intent.rendezvousKey }, signature };
    const answer = await transport.call(operations.sendMessage, encode(v1.SendMessageRequest, request), options);
    requireOk(decodeAnswer(v1.SendMessageResponse, answer).result);
  }
}

/** Interface section 4.4. @throws {IntentError} `invalid_id` @throws {SequencerError} */
export async function getStatus(transport: Caller, id: string, options?: CallOptions): Promise<IntentStatus> {
  const request = encode(v1.GetStatusRequest, { intentId: { value: parseIntentId(id) } });
  const answer = await transport.call(operations.getStatus, request, options);
  const { exists, codeScanned, intentSubmitted } = decodeAnswer(v1.GetStatusResponse, answer);
  return { exists, codeScanned, intentSubmitted };
}

/**
 * Asks who logged in (interface section 4.7, "get user id"); gives the user id, Base58.
 * @throws {IntentError} `invalid_id`, `intent_not_found`, `not_supported`, `login_pending`, `signer_failed`
 * @throws {SequencerError}
 */
export async function getUserId(
  transport: Caller,
  id: string,
  verifier: Signer,
  options?: CallOptions,
): Promise<string> {
  const codec = v1.GetLoginForThirdPartyAppRequest;
  const request = {
    intentId: { value: parseIntentId(id) },
    verifier: { value: parseVerifierKey(verifier.publicKey) },
  };
  const signature = { value: await signChecked(verifier, unsignedBytes(codec, request)) };
  const body = encode(codec, { ...request, signature });
  const answer = await transport.call(operations.getLoginForThirdPartyApp, body, options);
  return readUserId(decodeAnswer(v1.GetLoginForThirdPartyAppResponse, answer));
}

function readUserId({ result, userId }: v1.GetLoginForThirdPartyAppResponse.$Properties): string {
  const { Result } = v1.GetLoginForThirdPartyAppResponse;
  if (result === Result.REQUEST_NOT_FOUND) throw new IntentError('intent_not_found');
  if (result === Result.LOGIN_NOT_SUPPORTED) throw new IntentError('not_supported', 'This intent logs nobody in.');
  if (result === Result.NO_USER_LOGGED_IN) throw new IntentError('login_pending');
  requireOk(result);
  if (userId?.value?.length !== 32) {
    throw new SequencerError('sequencer_bad_response', 'The answer has no user id of 32 bytes.');
  }
  return formatBase58(userId.value);
}

/**
 * Has the service call `url` once the intent is submitted (protocol section 5). An intent has one webhook; one that has
 * been registered before counts as done.
 * @throws {IntentError} `invalid_id`, `intent_not_found`
 * @throws {SequencerError} `sequencer_error` also for a URL that it does not take, and once the intent is submitted
 */
export async function registerWebhook(
  transport: Caller,
  id: string,
  url: string,
  options?: CallOptions,
): Promise<void> {
  const request = encode(v1.RegisterWebhookRequest, { intentId: { value: parseIntentId(id) }, url });
  const answer = await transport.call(operations.registerWebhook, request, options);
  const { Result } = v1.RegisterWebhookResponse;
  const { result } = decodeAnswer(v1.RegisterWebhookResponse, answer);
  if (result === Result.OK || result === Result.ALREADY_REGISTERED) return;
  if (result === Result.REQUEST_NOT_FOUND) throw new IntentError('intent_not_found');
  throw new SequencerError('sequencer_error', `The sequencer refused the webhook: ${Result[result] ?? result}.`);
}

/** Every result but OK is a refusal, also one this version has no name for. */
function requireOk(result: number | null | undefined): void {
  if ((result ?? 0) !== 0) throw new SequencerError('sequencer_error', `The sequencer answered with result ${result}.`);
}

function decodeAnswer<Decoded>(codec: { decode(bytes: Uint8Array): Decoded } & EncodeOf, bytes: Uint8Array): Decoded {
  try {
    return decode(codec, bytes);
  } catch (cause) {
    throw new SequencerError('sequencer_bad_response', 'The answer is not the message it should be.', { cause });
  }
}

type EncodeOf = { encode(message: never): { finish(): Uint8Array } };
