import { randomBytes } from 'node:crypto';
import { type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { IntentError } from '../../errors.js';
import { toNativeAmount, toQuarks } from '../../intents/money.js';
import { formatBase58 } from '../../keys/base58.js';
import { keyPairFromSeed } from '../../keys/ed25519.js';
import type { Journal } from '../journal/journal.js';
import { toTimestamp } from '../state/clock.js';
import type { StoredIntent } from '../state/intent-store.js';
import { GuardedHttpClient, loopbackAddresses } from './guarded-http-client.js';

/** Claims of a webhook call (protocol section 5). */
export type WebhookClaims = Readonly<Record<string, string | number | boolean>>;

/** Changes to a webhook call, for tests. */
export interface SignWebhookOptions {
  /**
   * Makes the call invalid. `forged`: signed by another key. `altered`: a claim is changed after signing. `expired`: signed by
   * the webhook key, expired an hour ago. `unsigned`: its algorithm is `none`.
   */
  readonly invalid?: 'forged' | 'altered' | 'expired' | 'unsigned' | undefined;
  /** Claims to add or replace. */
  readonly claims?: WebhookClaims | undefined;
}

/** The headers and the body of a webhook call, to be sent with POST. */
export interface SignedWebhook {
  readonly headers: { readonly 'content-type': 'application/jwt' };
  /** A JWT. */
  readonly body: string;
}

const invalidKinds = ['forged', 'altered', 'expired', 'unsigned'] as const;
const hourMs = 3_600_000;

/** Signs webhook calls with a key that is new at every start. */
export class WebhookSigner {
  /** The public webhook key, Base58. */
  readonly webhookPublicKey: string;
  readonly #privateKey: JWK;
  readonly #now: () => number;

  constructor(now: () => number) {
    const { publicKey, privateKey } = generateWebhookKey();
    this.webhookPublicKey = publicKey;
    this.#privateKey = privateKey;
    this.#now = now;
  }

  /** Signs the webhook call for an intent, with the state `SUBMITTED`. */
  async sign(intent: StoredIntent, { invalid, claims = {} }: SignWebhookOptions = {}): Promise<SignedWebhook> {
    if (invalid !== undefined && !invalidKinds.includes(invalid)) {
      const message = `signWebhook: invalid must be one of ${invalidKinds.join(', ')}.`;
      throw new IntentError('invalid_request', message);
    }
    const expiry = invalid === 'expired' ? { exp: Math.floor((this.#now() - hourMs) / 1000) } : {};
    const body = await this.#tokenOf({ ...claimsOf(intent), ...expiry, ...claims }, invalid);
    return { headers: { 'content-type': 'application/jwt' }, body };
  }

  async #tokenOf(claims: WebhookClaims, invalid: SignWebhookOptions['invalid']): Promise<string> {
    if (invalid === 'unsigned') return new UnsecuredJWT(claims).encode();
    const key = invalid === 'forged' ? generateWebhookKey().privateKey : this.#privateKey;
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(key);
    return invalid === 'altered' ? alterClaims(token, claims) : token;
  }
}

function generateWebhookKey(): { publicKey: string; privateKey: JWK } {
  const seed = randomBytes(32);
  const { publicKey } = keyPairFromSeed(seed);
  const [d = '', x = ''] = [seed, publicKey].map((bytes) => Buffer.from(bytes).toString('base64url'));
  return { publicKey: formatBase58(publicKey), privateKey: { kty: 'OKP', crv: 'Ed25519', d, x } };
}

function alterClaims(token: string, claims: WebhookClaims): string {
  const [header, , signature] = token.split('.');
  const payload = Buffer.from(JSON.stringify({ ...claims, altered: true })).toString('base64url');
  return `${header}.${payload}.${signature}`;
}

/** The payload of a call; docs/protocol.md section 5 lists its claims. */
function claimsOf({ id, request, userId }: StoredIntent): Record<string, string | number> {
  const user = userId ? { user: formatBase58(userId) } : {};
  if (request.kind === 'login') return { intent: id, state: 'SUBMITTED', ...user };
  const { money, rate, destination } = request;
  return {
    intent: id,
    currency: money.currency.toUpperCase(),
    amount: toNativeAmount(money),
    // Without a fixed rate, one unit of any currency is one native unit.
    exchangeRate: rate?.exchangeRate ?? 1,
    quarks: Number(rate?.quarks ?? toQuarks(money)),
    destination,
    state: 'SUBMITTED',
    ...user,
  };
}

/** Hosts whose webhooks are called. Other loopback addresses may have services that clients must not reach. */
const webhookHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

export function isAllowedWebhookHost({ hostname }: URL): boolean {
  return webhookHosts.has(hostname);
}

/** Calls the webhooks of submitted intents, on this machine only. */
export class WebhookCaller {
  readonly #signer: WebhookSigner;
  readonly #now: () => number;
  readonly #outbound = new GuardedHttpClient(loopbackAddresses, { anyCertificate: true });

  constructor(signer: WebhookSigner, now: () => number) {
    this.#signer = signer;
    this.#now = now;
  }

  /** Calls the webhook of a submitted intent once, in the background. If the intent has a login, the call follows the login. */
  call(intent: StoredIntent, journal: Journal): void {
    const { webhookUrl, request, userId } = intent;
    if (!webhookUrl || !isAllowedWebhookHost(webhookUrl) || (request.login && !userId)) return;
    const recordEnd = journal.startWebhook(intent.id, webhookUrl.href);
    this.#post(webhookUrl, intent).then(
      ({ status, token }) => {
        recordEnd({ status, token });
        // Only status 200 counts as delivered.
        if (status === 200) intent.mailbox.add({ webhookCalled: { timestamp: toTimestamp(this.#now()) } });
      },
      (error: Error) => {
        recordEnd({ problem: error.message });
        // No retry: the site also polls the status.
      },
    );
  }

  async #post(url: URL, intent: StoredIntent): Promise<{ status: number; token: string }> {
    const { headers, body } = await this.#signer.sign(intent);
    const { status } = await this.#outbound.call(url, { method: 'POST', headers, body });
    return { status, token: body };
  }
}
