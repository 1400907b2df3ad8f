import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { toNativeAmount, toQuarks } from '../../intents/money.js';
import { formatBase58 } from '../../keys/base58.js';
import type { IntentRecord } from '../state/intent-store.js';

/** Claims of a webhook call (protocol section 5), or what somebody puts in their place. */
export type WebhookClaims = Readonly<Record<string, string | number | boolean>>;

/** How a webhook call is to differ from what the service sends. */
export interface WebhookOptions {
  /**
   * What is wrong with it. `forged`: a key has signed it that is not the service's. `altered`: a claim was changed after it
   * was signed. `expired`: the service has signed it, and it was good until an hour ago. `unsigned`: its algorithm is `none`.
   */
  readonly wrong?: 'forged' | 'altered' | 'expired' | 'unsigned' | undefined;
  /** Claims beside those that the service sends, or in their place. */
  readonly claims?: WebhookClaims | undefined;
}

/** A webhook call: `POST` the body with these headers. */
export interface SignedWebhook {
  /** What the service sends them with. */
  readonly headers: { readonly 'content-type': 'application/jwt' };
  /** A JWT. */
  readonly body: string;
}

const hourMs = 3_600_000;

/** Signs webhook calls with a service key that is drawn anew at every start. */
export class WebhookSigner {
  /** The public service key, Base58. */
  readonly serviceKey: string;
  readonly #privateKey: KeyObject;
  readonly #now: () => number;

  constructor(now: () => number) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.serviceKey = formatBase58(Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url'));
    this.#privateKey = privateKey;
    this.#now = now;
  }

  /** The call for an intent, as if it had been submitted. */
  async sign(record: IntentRecord, { wrong, claims = {} }: WebhookOptions = {}): Promise<SignedWebhook> {
    const expiry = wrong === 'expired' ? { exp: Math.floor((this.#now() - hourMs) / 1000) } : {};
    const body = await this.#tokenOf({ ...claimsOf(record), ...expiry, ...claims }, wrong);
    return { headers: { 'content-type': 'application/jwt' }, body };
  }

  async #tokenOf(claims: WebhookClaims, wrong: WebhookOptions['wrong']): Promise<string> {
    if (wrong === 'unsigned') return new UnsecuredJWT(claims).encode();
    const key = wrong === 'forged' ? generateKeyPairSync('ed25519').privateKey : this.#privateKey;
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(key);
    return wrong === 'altered' ? altered(token, claims) : token;
  }
}

function altered(token: string, claims: WebhookClaims): string {
  const [header, , signature] = token.split('.');
  const payload = Buffer.from(JSON.stringify({ ...claims, altered: true })).toString('base64url');
  return `${header}.${payload}.${signature}`;
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
