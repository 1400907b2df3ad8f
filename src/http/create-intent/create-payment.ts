import { IntentError } from '../../errors.js';
import { deriveKey } from '../../keys/key-ring.js';
import type { Ledger, RecordedTerms } from '../../ledger/ledger.js';
import { requireKnown } from '../../reject-unknown.js';
import type { IntentOwner } from '../encryption.js';
import type { SitePaymentTerms } from '../hooks.js';
import type { RouterContext } from '../router-context.js';
import { createOrReplayIntent, type KeyedRequest } from './create-intent.js';
import { fingerprintOf, isUnquotedKey } from './intent-request.js';
import { normalizeTerms, termNames } from './payment-terms.js';

/** A payment without a browser cannot unlock a resource, because a resource belongs to a browser. */
type TermsWithoutResource = Omit<SitePaymentTerms, 'resource'>;

/** Options of `router.createPayment`. */
export interface CreatePaymentOptions {
  /**
   * Idempotency key, such as `invoice-42`: 1 to 255 visible ASCII characters without quotes and backslashes. Calls with the
   * same key and terms return the same payment.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A payment that `router.createPayment` has created. */
export interface CreatedPayment {
  /** The intent id, Base58: for `router.intents`, and the `id` that the hooks receive. */
  readonly id: string;
  /** Anyone who has it can pay or decline this intent. In a QR code encode `walletLink`, or this if there is no `walletLink`. */
  readonly clientSecret: string;
  /** Opens the wallet. It contains the client secret. Undefined without `INTENT_WALLET_URL`, unless it is the simulator. */
  readonly walletLink: string | undefined;
}

const calledAfterClose =
  'router.createPayment was called after router.close(). Call it again with the same `idempotencyKey` after the restart.';

/** `router.createPayment`: the steps of `POST /intent`, with the site as the owner of the intent. */
export async function createPayment(
  context: RouterContext,
  terms: TermsWithoutResource,
  options: CreatePaymentOptions = {},
): Promise<CreatedPayment> {
  const { ledger, config, events, running } = context;
  if (!ledger) {
    const message = 'createPayment requires a ledger, which polls the payment. Set INTENT_DATABASE_URL.';
    throw new IntentError('invalid_configuration', message);
  }
  if (events.isClosed) throw new IntentError('closing', calledAfterClose);
  requireKnown('router.createPayment', options, ['idempotencyKey']);
  const recorded = parseTerms(terms, config);
  const { idempotencyKey } = options;
  const keyed = idempotencyKey === undefined ? undefined : keyedBy(idempotencyKey, ledger, recorded);
  const request = { owner: siteOwner(config), keyed, terms: () => recorded, http: undefined };
  const work = running.begin(undefined);
  const { id, clientSecret } = await createOrReplayIntent(context, request).finally(() => running.end(work));
  const walletUrl = await context.walletUrl();
  return Object.freeze({ id, clientSecret, walletLink: walletUrl && `${walletUrl}#${clientSecret}` });
}

function parseTerms(terms: TermsWithoutResource, config: RouterContext['config']): RecordedTerms {
  requireKnown('router.createPayment', terms ?? null, termNames, 'invalid_terms');
  if ('resource' in terms && terms.resource !== undefined) {
    const message =
      'A payment without a browser cannot unlock a resource. Omit `resource`, and grant access in onPaid.';
    throw new IntentError('invalid_terms', message);
  }
  return normalizeTerms(terms, config);
}

function keyedBy(key: string, ledger: Ledger, terms: RecordedTerms): KeyedRequest {
  if (typeof key === 'string' && isUnquotedKey(key)) {
    return { ledger, key, fingerprint: fingerprintOf('payment', { order: terms }) };
  }
  const message = 'Pass an idempotencyKey of 1 to 255 visible ASCII characters without quotes and backslashes.';
  throw new IntentError('invalid_idempotency_key', message);
}

/** The site. Its hash is empty: no cookie has this hash, so no browser owns these intents. */
function siteOwner({ siteKeys }: RouterContext['config']): IntentOwner {
  const [key, ...former] = siteKeys;
  const derive = (from: Uint8Array | undefined, purpose: string): Uint8Array => {
    if (from) return deriveKey(from, purpose);
    const message =
      '`idempotencyKey` requires a secret that encrypts the stored client secret. Set INTENT_SECRET to at least 32 random characters.';
    throw new IntentError('invalid_configuration', message);
  };
  return {
    hash: new Uint8Array(0),
    deriveKey: (purpose) => derive(key, purpose),
    deriveFormerKeys: (purpose) => former.map((one) => derive(one, purpose)),
  };
}
