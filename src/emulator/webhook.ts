import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { toNativeAmount, toQuarks } from '../intents/money.js';
import { formatBase58 } from '../keys/base58.js';
import { decode, encode, v1 } from '../wire/codec.js';
import type { IntentRecord, IntentStore } from './intent-store.js';
import type { Journal } from './journal/journal.js';
import { isLoopback, parseHttpUrl } from './loopback.js';
import { Outbound } from './outbound.js';
import { loopbackReach } from './reach.js';
import type { SequencerState } from './sequencer-state.js';
import { requireBytes32 } from './signed-request.js';
import { toTimestamp } from './timestamp.js';

const { Result } = v1.RegisterWebhookResponse;
const maxUrlLength = 2_048;

/** MicroPayment.registerWebhook (protocol section 5). An intent has one webhook, set before it is submitted. */
export function registerWebhook({ intents }: SequencerState, body: Uint8Array): Uint8Array {
  const { intentId, url } = decode(v1.RegisterWebhookRequest, body);
  const record = intents.get(formatBase58(requireBytes32(intentId, 'intent_id')));
  return encode(v1.RegisterWebhookResponse, { result: register(intents, record, url) });
}

function register(
  intents: IntentStore,
  record: IntentRecord | undefined,
  text: string,
): v1.RegisterWebhookResponse.Result {
  const url = parseWebhookUrl(text);
  if (!url) return Result.INVALID_URL;
  if (!record) return Result.REQUEST_NOT_FOUND;
  if (record.webhookUrl) return Result.ALREADY_REGISTERED;
  if (record.submitted) return Result.INTENT_EXISTS;
  intents.update(record, { webhookUrl: url });
  return Result.OK;
}

function parseWebhookUrl(text: string): URL | undefined {
  const url = text.length <= maxUrlLength ? parseHttpUrl(text) : undefined;
  return url && (url.protocol === 'https:' || isLoopback(url.hostname)) ? url : undefined;
}

/** Calls webhooks, signed with a service key that is drawn anew at every start. */
export class WebhookCaller {
  /** The public service key, Base58. */
  readonly serviceKey: string;
  readonly #privateKey: Parameters<SignJWT['sign']>[0];
  readonly #now: () => number;
  readonly #outbound = new Outbound(loopbackReach);

  constructor(now: () => number) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.serviceKey = formatBase58(Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url'));
    this.#privateKey = privateKey;
    this.#now = now;
  }

  /**
   * Calls the webhook of a submitted intent, once, and does not wait for it. One that carries a login waits for its
   * user. Only this machine is ever called: an emulator has no business anywhere else.
   */
  call(record: IntentRecord, journal: Journal): void {
    const { webhookUrl, request, userId } = record;
    if (!webhookUrl || !isLoopback(webhookUrl.hostname) || (request.login && !userId)) return;
    const noteEnd = journal.webhook(record.id, webhookUrl.href);
    this.#post(webhookUrl, record).then(
      ({ status, token }) => {
        noteEnd({ status, token });
        if (status >= 200 && status < 300)
          record.mailbox.add({ webhookCalled: { timestamp: toTimestamp(this.#now()) } });
      },
      (error: Error) => {
        noteEnd({ problem: error.message });
        // The site is down or slow. It learns the state by asking: a webhook is a hint to look.
      },
    );
  }

  async #post(url: URL, record: IntentRecord): Promise<{ status: number; token: string }> {
    const body = await new SignJWT(claimsOf(record)).setProtectedHeader({ alg: 'EdDSA' }).sign(this.#privateKey);
    const headers = { 'content-type': 'application/jwt' };
    const { status } = await this.#outbound.call(url, { method: 'POST', headers, body });
    return { status, token: body };
  }
}

function claimsOf({ id, request, userId }: IntentRecord): Record<string, string | number> {
  const user = userId ? { user: formatBase58(userId) } : {};
  if (request.kind === 'login') return { intent: id, state: 'SUBMITTED', ...user };
  const { money, destination } = request;
  return {
    intent: id,
    currency: money.currency.toUpperCase(),
    amount: toNativeAmount(money),
    // There is no market in an emulator: a unit of any currency is worth one native unit.
    exchangeRate: 1,
    quarks: Number(toQuarks(money)),
    destination,
    state: 'SUBMITTED',
    ...user,
  };
}
