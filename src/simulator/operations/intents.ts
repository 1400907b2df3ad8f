import { IntentError } from '../../errors.js';
import { extractSignedBytes } from '../../intents/signed-intent.js';
import { decodeCanonical, type RequestedLogin, rendezvousKeyIn } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { parseHttpUrl } from '../../net/url.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import { isAllowedWebhookHost } from '../outbound/send-webhook.js';
import type { IntentStore, StoredIntent } from '../state/intent-store.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { type VerifiedIntent, verifyIntentMessage } from '../state/verified-intent.js';
import { requireBytes32 } from './request.js';

/** Intents.createIntent (interface section 4.3): takes a bare Message with its rendezvous key, and returns the status of the intent. */
export async function handleCreateIntent(state: SimulatorState, body: Uint8Array): Promise<Uint8Array> {
  const message = decodeCanonical(v1.Message, body);
  if (!message.requestToReceiveBill && !message.requestToLogin) {
    throw new IntentError('not_supported', 'Only payment requests and logins can be created.');
  }
  const key = rendezvousKeyIn(message);
  if (!key) throw new IntentError('malformed_message', 'The message must name its rendezvous key.');
  const signature = message.sendMessageRequestSignature?.value ?? new Uint8Array();
  const stored = await storeIntent(state, verifyIntentMessage(message, key, signature, extractSignedBytes(body)));
  return encode(v1.GetStatusResponse, statusOf(stored));
}

/**
 * Stores an intent, or returns the one that an equal request created. The domain of a login must publish its verifier.
 * @throws {IntentError} `malformed_message`, `request_refused`
 */
export async function storeIntent(state: SimulatorState, intent: VerifiedIntent): Promise<StoredIntent> {
  const existing = state.intents.find(intent);
  if (existing) return existing;
  if (intent.request.login) await verifyKeyPublished(state, intent.id, intent.request.login);
  // A concurrent call may have stored the intent while the key file was read.
  return state.intents.find(intent) ?? state.intents.add(intent, state.now());
}

async function verifyKeyPublished(
  { keyFiles, journal }: SimulatorState,
  id: string,
  login: RequestedLogin,
): Promise<void> {
  const start = journal.start();
  const address = keyFiles.addressOf(login.domain);
  const problem = await keyFiles.verifyKeyPublished(login).then(
    () => undefined,
    (error: IntentError) => error,
  );
  const durationMs = performance.now() - start.tickMs;
  journal.add(id, { kind: 'key-file', ...login, address, problem: problem?.message, durationMs }, start);
  if (problem) throw problem;
}

/** MicroPayment.getStatus (interface sections 2.6 and 4.4). An unknown intent has `exists: false`. */
export function handleGetStatus({ intents }: SimulatorState, body: Uint8Array): Uint8Array {
  const { intentId } = decode(v1.GetStatusRequest, body);
  const intent = intents.get(formatBase58(requireBytes32(intentId, 'intent_id')));
  return encode(v1.GetStatusResponse, intent ? statusOf(intent) : {});
}

function statusOf({ scanned, submitted }: StoredIntent): v1.GetStatusResponse.$Properties {
  return { exists: true, codeScanned: scanned, intentSubmitted: submitted };
}

const WebhookResult = v1.RegisterWebhookResponse.Result;
const maxWebhookUrlLength = 2_048;

/**
 * MicroPayment.registerWebhook (protocol section 5). An intent has at most one webhook, registered before its submission. A page
 * can register only webhooks at its own origin. Otherwise any web page could send requests to every server on this machine.
 */
export function handleRegisterWebhook(
  { intents }: SimulatorState,
  body: Uint8Array,
  pageOrigin: string | undefined,
): Uint8Array {
  const { intentId, url } = decode(v1.RegisterWebhookRequest, body);
  const intent = intents.get(formatBase58(requireBytes32(intentId, 'intent_id')));
  const webhookUrl = parseWebhookUrl(url);
  const isAllowed = pageOrigin === undefined || pageOrigin === webhookUrl?.origin;
  const result = registerWebhook(intents, intent, isAllowed ? webhookUrl : undefined);
  return encode(v1.RegisterWebhookResponse, { result });
}

function registerWebhook(
  intents: IntentStore,
  intent: StoredIntent | undefined,
  url: URL | undefined,
): v1.RegisterWebhookResponse.Result {
  if (!url) return WebhookResult.INVALID_URL;
  if (!intent) return WebhookResult.REQUEST_NOT_FOUND;
  if (intent.webhookUrl) return WebhookResult.ALREADY_REGISTERED;
  if (intent.submitted) return WebhookResult.INTENT_EXISTS;
  intents.update(intent, { webhookUrl: url });
  return WebhookResult.OK;
}

function parseWebhookUrl(text: string): URL | undefined {
  const url = text.length <= maxWebhookUrlLength ? parseHttpUrl(text) : undefined;
  return url && (url.protocol === 'https:' || isAllowedWebhookHost(url)) ? url : undefined;
}
