import { formatBase58 } from '../../keys/base58.js';
import { isLoopback } from '../../net/loopback.js';
import { parseHttpUrl } from '../../net/url.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import type { Journal } from '../journal/journal.js';
import { requireBytes32 } from '../operations/signed-request.js';
import type { IntentRecord, IntentStore } from '../state/intent-store.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { toTimestamp } from '../timestamp.js';
import { loopbackReach } from './address-policy.js';
import { Outbound } from './outbound.js';
import type { WebhookSigner } from './sign-webhook.js';

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

/** Calls webhooks. */
export class WebhookCaller {
  readonly #signer: WebhookSigner;
  readonly #now: () => number;
  readonly #outbound = new Outbound(loopbackReach);

  constructor(signer: WebhookSigner, now: () => number) {
    this.#signer = signer;
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
        // Servers of this family count nothing else as delivered.
        if (status === 200) record.mailbox.add({ webhookCalled: { timestamp: toTimestamp(this.#now()) } });
      },
      (error: Error) => {
        noteEnd({ problem: error.message });
        // The site is down or slow. It learns the state by asking: a webhook is a hint to look.
      },
    );
  }

  async #post(url: URL, record: IntentRecord): Promise<{ status: number; token: string }> {
    const { headers, body } = await this.#signer.sign(record);
    const { status } = await this.#outbound.call(url, { method: 'POST', headers, body });
    return { status, token: body };
  }
}
