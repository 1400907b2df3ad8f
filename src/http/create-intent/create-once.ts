import { IntentError } from '../../errors.js';
import type { Ledger, RecordedTerms, RepeatedIntent } from '../../ledger/ledger.js';
import type { PreparedIntent } from '../../sequencer/intent-client.js';
import type { RouterContext } from '../router-context.js';
import type { AskedIntent, GivenIntent } from './asked-intent.js';
import { fingerprintOf } from './idempotency-key.js';
import { prepareIntent } from './prepare-intent.js';
import { openSecret, sealSecret } from './sealed-secret.js';
import { sendIntent } from './send-intent.js';
import { termsFor } from './terms-for.js';

/**
 * Creates one intent for all requests of a browser that come with the same `Idempotency-Key`, whatever fails between two
 * of its steps and whichever process takes the next request.
 *
 * It is written down before it is sent. A request that finds it written down and not confirmed does not know how far the
 * one before it came, and need not: it sends the same bytes, which the sequencer takes as the same intent.
 * @throws {IntentError} `idempotency_key_reused`, `ledger_unavailable`
 */
export async function createOnce(
  context: RouterContext,
  ledger: Ledger,
  asked: AskedIntent,
  key: string,
): Promise<GivenIntent> {
  const { browser } = asked;
  const fingerprint = fingerprintOf(asked.mode, asked.body);
  const earlier = await ledger.repeated(browser.hash, key);
  if (earlier) return repeat(context, ledger, asked, fingerprint, earlier);
  const terms = await termsFor(context, asked);
  const prepared = await prepareIntent(context, terms);
  const { id } = prepared;
  const sealedSecret = await sealSecret(prepared.clientSecret, id, browser);
  const idempotency = { key, fingerprint, sealedSecret };
  const first = await ledger.reserve({ id, terms, browser: browser.hash }, idempotency);
  // Another request was faster: what was prepared here was never sent, and is forgotten.
  if (first) return repeat(context, ledger, asked, fingerprint, first);
  return send(context, ledger, asked, prepared, terms);
}

async function repeat(
  context: RouterContext,
  ledger: Ledger,
  asked: AskedIntent,
  fingerprint: Uint8Array,
  { id, state, terms, ...kept }: RepeatedIntent,
): Promise<GivenIntent> {
  if (Buffer.compare(kept.fingerprint, fingerprint) !== 0) {
    throw new IntentError('idempotency_key_reused', 'Send a new Idempotency-Key with a new request.');
  }
  const clientSecret = await openSecret(kept.sealedSecret, id, asked.browser);
  if (state !== 'creating') return { id, clientSecret, terms, isRepeated: true };
  return send(context, ledger, asked, await prepareIntent(context, terms, clientSecret), terms);
}

async function send(
  context: RouterContext,
  ledger: Ledger,
  asked: AskedIntent,
  prepared: PreparedIntent,
  terms: RecordedTerms | undefined,
): Promise<GivenIntent> {
  await sendIntent(context, asked, prepared, terms);
  await ledger.confirm(prepared.id);
  return { id: prepared.id, clientSecret: prepared.clientSecret, terms };
}
