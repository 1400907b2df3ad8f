import type { Request, Response } from 'express';
import { IntentError } from '../../errors.js';
import type { Ledger, RecordedTerms, RepeatedIntent } from '../../ledger/ledger.js';
import type { PreparedIntent } from '../../sequencer/intent-client.js';
import type { RouterEventPayload } from '../../telemetry/router-event.js';
import { type IntentOwner, openClientSecret, sealClientSecret } from '../encryption.js';
import { runHook } from '../hook-errors.js';
import type { AcceptedIntent } from '../hooks.js';
import { type BrowserIdentity, ensureBrowser } from '../request/browser-cookie.js';
import { disconnectSignal } from '../request/client-disconnect.js';
import { readJson } from '../request/read-body.js';
import { sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { fingerprintOf, type IntentRequestBody, parseIdempotencyKey, parseIntentRequest } from './intent-request.js';
import { normalizeTerms } from './payment-terms.js';

// `POST /intent` in six steps:
//
//   parse    the body, the `Idempotency-Key`, the browser's cookie
//   terms    the site's `payment` hook sets the price; a login has no terms
//   prepare  sign the intent; nothing is sent yet
//   reserve  with a key: insert the row in the state `creating`
//   send     the sequencer accepts the intent; then the hook `onCreated` runs
//   confirm  the row becomes `created`; without a key, this step inserts it
//
// The response contains the client secret, so it is sent only after all six steps.
//
// A retry with the same key finds the reserved row and skips terms and reserve. In the state `creating` it cannot know how far
// the first request got, so it signs and sends the same bytes again, which the sequencer accepts as the same intent. In every
// later state it returns the same client secret without sending anything.
//
// `router.createPayment` has no browser: the site itself is the owner of the intent, and passes terms and key.

export interface CreateIntentRequest {
  readonly owner: IntentOwner;
  /** Undefined without an idempotency key, and without a ledger, where the key has no effect. */
  readonly keyed: KeyedRequest | undefined;
  /** The terms, from the hook or from the site; undefined for a login. Not called for a repeated request. */
  readonly terms: () => Promise<RecordedTerms | undefined>;
  /** Undefined if there is no browser. */
  readonly http: { readonly req: Request; readonly res: Response } | undefined;
}

interface BrowserRequest extends CreateIntentRequest {
  readonly owner: BrowserIdentity;
}

export interface KeyedRequest {
  readonly ledger: Ledger;
  readonly key: string;
  /** SHA-256 of the request. A key cannot be reused for a different request. */
  readonly fingerprint: Uint8Array;
}

export interface CreateIntentResult {
  readonly id: string;
  readonly clientSecret: string;
  readonly terms: RecordedTerms | undefined;
  /** Whether an earlier request with the same key created this intent. */
  readonly isReplayed: boolean;
}

/** The longest lifetime that browsers allow. The cookie identifies the browser that paid for a resource. */
const resourceCookieSeconds = 400 * 24 * 3_600;

export function createIntentHandler(context: RouterContext): Handler {
  return async (req, res) => {
    const request = await parseRequest(context, req, res);
    const result = await startIntent(context, request);
    const { owner } = request;
    if (result.terms?.resource !== undefined) owner.extendCookie(resourceCookieSeconds);
    context.secrets.set(result.id, result.clientSecret);
    context.secrets.setDescription(result.id, owner.hash, result.terms?.description);
    sendJson(res, 201, { client_secret: result.clientSecret });
  };
}

async function parseRequest(context: RouterContext, req: Request, res: Response): Promise<BrowserRequest> {
  const { hooks, ledger, resolveTerms, browserCookie } = context;
  const body = await parseIntentRequest(await readJson(req), { clientAmount: hooks.clientAmount !== undefined });
  // The hooks read the parsed body.
  req.body = body;
  const mode = body.mode ?? (resolveTerms ? 'payment' : 'login');
  const key = ledger && parseIdempotencyKey(req);
  const keyed = ledger && key !== undefined ? { ledger, key, fingerprint: fingerprintOf(mode, body) } : undefined;
  // The cookie is set even if a later step fails: a retry must come from the same browser.
  const owner = ensureBrowser(browserCookie, req, res);
  const terms = async () => (mode === 'login' ? undefined : resolveHookTerms(context, req, body));
  return { owner, keyed, terms, http: { req, res } };
}

export async function startIntent(context: RouterContext, request: CreateIntentRequest): Promise<CreateIntentResult> {
  const result = await createOrRestore(context, request);
  context.observer?.emit(eventOf(result));
  return result;
}

async function createOrRestore(context: RouterContext, request: CreateIntentRequest): Promise<CreateIntentResult> {
  let reserved = await findReserved(context, request);
  if (!reserved) {
    const requestedTerms = await request.terms();
    const prepared = await prepareIntent(context, requestedTerms);
    reserved = await reserveIntent(context, request, prepared, requestedTerms);
  }
  const { id, clientSecret, terms, unsent } = reserved;
  if (!unsent) return { id, clientSecret, terms, isReplayed: true };
  await sendIntent(context, request, unsent, terms);
  await confirmIntent(context, request, id, terms);
  return { id, clientSecret, terms, isReplayed: false };
}

/** An intent whose id, terms and client secret are fixed. */
interface ReservedIntent {
  readonly id: string;
  readonly clientSecret: string;
  readonly terms: RecordedTerms | undefined;
  /** What remains to be sent. Undefined if an earlier request has confirmed the intent. */
  readonly unsent: PreparedIntent | undefined;
}

async function findReserved(context: RouterContext, request: CreateIntentRequest): Promise<ReservedIntent | undefined> {
  const { keyed, owner } = request;
  if (owner.isNew) return undefined;
  const earlier = await keyed?.ledger.repeated(owner.hash, keyed.key);
  return keyed && earlier && restoreIntent(context, keyed, owner, earlier);
}

/** @throws {IntentError} `idempotency_key_reused` if the earlier request with this key was a different one */
async function restoreIntent(
  context: RouterContext,
  { fingerprint }: KeyedRequest,
  owner: IntentOwner,
  earlier: RepeatedIntent,
): Promise<ReservedIntent> {
  const { id, state, terms } = earlier;
  if (Buffer.compare(earlier.fingerprint, fingerprint) !== 0) {
    const message = 'This Idempotency-Key was used for a different request. Send a new key with each new request.';
    throw new IntentError('idempotency_key_reused', message);
  }
  const clientSecret = await openClientSecret(earlier.sealedSecret, id, owner);
  const unsent = state === 'creating' ? await prepareIntent(context, terms, clientSecret) : undefined;
  return { id, clientSecret, terms, unsent };
}

/** The terms from the site's hook. @throws as `TermsResolver` and `normalizeTerms` */
async function resolveHookTerms(
  { resolveTerms, config }: RouterContext,
  req: Request,
  body: IntentRequestBody,
): Promise<RecordedTerms> {
  if (!resolveTerms)
    throw new IntentError('not_supported', 'This site accepts no payments. It needs the hook `payment`.');
  return normalizeTerms(await resolveTerms(req, body), config);
}

/** Signs a payment, or a login without terms. Equal arguments produce equal bytes. @throws {IntentError} `not_supported` */
function prepareIntent(
  { client, config }: RouterContext,
  terms: RecordedTerms | undefined,
  clientSecret?: string,
): Promise<PreparedIntent> {
  if (!terms) return client.loginIntents.prepare({ ...loginParameters(config), clientSecret });
  const { amount, currency, destination, login } = terms;
  const parameters = { amount, currency, destination, clientSecret };
  return client.paymentIntents.prepare(login ? { ...parameters, ...loginParameters(config) } : parameters);
}

function loginParameters({ login }: RouterContext['config']) {
  if (!login) throw new IntentError('not_supported', 'Logins are disabled on this site: it sets `login: false`.');
  const { domain, keyRing } = login;
  return { login: { verifier: keyRing.signer.publicKey, domain }, signers: [keyRing.signer] };
}

/** Inserts the row of an intent with a key. Without a key there is nothing to reserve. */
async function reserveIntent(
  context: RouterContext,
  { keyed, owner }: CreateIntentRequest,
  prepared: PreparedIntent,
  terms: RecordedTerms | undefined,
): Promise<ReservedIntent> {
  const { id, clientSecret } = prepared;
  if (keyed) {
    const { ledger, key, fingerprint } = keyed;
    const sealedSecret = sealClientSecret(clientSecret, id, owner);
    const earlier = await ledger.reserve({ id, terms, browser: owner.hash }, { key, fingerprint, sealedSecret });
    // A concurrent request reserved the key first. The intent prepared here was not sent and is discarded.
    if (earlier) return restoreIntent(context, keyed, owner, earlier);
  }
  return { id, clientSecret, terms, unsent: prepared };
}

async function sendIntent(
  { webhook, hooks }: RouterContext,
  { http }: CreateIntentRequest,
  unsent: PreparedIntent,
  terms: RecordedTerms | undefined,
): Promise<void> {
  const { id } = unsent;
  // A disconnect prevents the call. It does not cancel a call in progress, because the intent may already exist.
  await unsent.create({ cancelBeforeSend: http && disconnectSignal(http.res) });
  webhook?.register(id, http?.req);
  // Without a browser the caller receives the intent.
  if (!http) return;
  const { req } = http;
  const accepted: AcceptedIntent = terms ? { id, kind: 'payment', ...terms } : { id, kind: 'login' };
  await runHook('onCreated', () => hooks.onCreated?.(accepted, req));
}

async function confirmIntent(
  { logins }: RouterContext,
  { keyed, owner }: CreateIntentRequest,
  id: string,
  terms: RecordedTerms | undefined,
): Promise<void> {
  if (keyed) await keyed.ledger.confirm(id);
  else await logins.record({ id, terms, browser: owner.hash });
}

function eventOf({ id: intent, terms, isReplayed }: CreateIntentResult): RouterEventPayload {
  const kind = terms ? 'payment' : 'login';
  if (isReplayed) return { type: 'intent_replayed', intent, kind };
  return { type: 'intent_created', intent, kind, amount: terms?.amount, currency: terms?.currency };
}
