import type { Request, Response } from 'express';
import { IntentError, SequencerError } from '../../errors.js';
import type { Signer } from '../../keys/verifier-key.js';
import type { Ledger, RecordedTerms, ReplayedIntent } from '../../ledger/ledger.js';
import type { CreatedIntent } from '../../sequencer/calls.js';
import type { PreparedIntent } from '../../sequencer/intent-client.js';
import { type CallOptions, cancelBeforeSend } from '../../sequencer/transport.js';
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
  /** Undefined without an idempotency key, or without a ledger, where the key has no effect. */
  readonly keyed: KeyedRequest | undefined;
  /** The terms, from the hook or from the site; undefined for a login. Not called for a repeated request. */
  readonly terms: () => Promise<RecordedTerms> | RecordedTerms | undefined;
  /** Undefined if there is no browser. */
  readonly http: { readonly req: Request; readonly res: Response } | undefined;
}

interface BrowserRequest extends CreateIntentRequest {
  readonly owner: BrowserIdentity;
}

/** A request with an idempotency key. */
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
  const options = { clientAmount: context.hooks.clientAmount !== undefined };
  return async (req, res) => {
    const body = await parseIntentRequest(await readJson(req), options);
    const request = browserRequest(context, req, res, body);
    const { id, clientSecret, terms } = await createOrReplayIntent(context, request);
    const { owner } = request;
    if (terms?.resource !== undefined) owner.extendCookie(resourceCookieSeconds);
    context.privateIntents.setClientSecret(id, clientSecret);
    if (terms?.description !== undefined) context.privateIntents.setDescription(id, owner.hash, terms.description);
    sendJson(res, 201, { client_secret: clientSecret });
  };
}

function browserRequest(context: RouterContext, req: Request, res: Response, body: IntentRequestBody): BrowserRequest {
  const { ledger, resolveTerms, browserCookie } = context;
  // The hooks read the parsed body.
  req.body = body;
  const mode = body.mode ?? (resolveTerms ? 'payment' : 'login');
  const key = ledger && parseIdempotencyKey(req);
  const keyed = ledger && key !== undefined ? { ledger, key, fingerprint: fingerprintOf(mode, body) } : undefined;
  // The cookie is set even if a later step fails: a retry must come from the same browser.
  const owner = ensureBrowser(browserCookie, req, res);
  const terms = () => (mode === 'login' ? undefined : resolveHookTerms(context, req, body));
  return { owner, keyed, terms, http: { req, res } };
}

/** Creates the intent of a request, or returns the intent that an earlier request with the same key created. */
export async function createOrReplayIntent(
  context: RouterContext,
  request: CreateIntentRequest,
): Promise<CreateIntentResult> {
  const { keyed, owner, http } = request;
  let reserved = keyed && (await findReserved(context, keyed, owner));
  if (!reserved) {
    const terms = await request.terms();
    const prepared = await prepareIntent(context, terms);
    reserved = keyed && (await reserveIntent(context, keyed, owner, prepared, terms));
    reserved ??= { id: prepared.id, clientSecret: prepared.clientSecret, terms, unsent: prepared };
  }
  const { id, clientSecret, terms, unsent } = reserved;
  if (unsent) {
    // A disconnect prevents the call. It does not cancel a call in progress, because the intent may already exist.
    await unsent.create(http && cancelBeforeSend(disconnectSignal(http.res)));
    context.webhook?.register(id, http?.req);
    // Not for `router.createPayment`: its caller gets the id as the return value.
    if (http && context.hooks.onCreated) await runOnCreated(context, http.req, id, terms);
    const confirming = confirmIntent(context, request, id, terms);
    // Undefined without a ledger.
    if (confirming) await confirming;
  }
  const result = { id, clientSecret, terms, isReplayed: unsent === undefined };
  context.observer?.emit(eventOf(result));
  return result;
}

/** An intent whose id, terms and client secret are fixed. */
interface ReservedIntent {
  readonly id: string;
  readonly clientSecret: string;
  readonly terms: RecordedTerms | undefined;
  /** What remains to be sent. Undefined if an earlier request has confirmed the intent. */
  readonly unsent: PreparedIntent | undefined;
}

async function findReserved(
  context: RouterContext,
  keyed: KeyedRequest,
  owner: IntentOwner,
): Promise<ReservedIntent | undefined> {
  if (owner.isNew) return undefined;
  const earlier = await keyed.ledger.findByIdempotencyKey(owner.hash, keyed.key);
  return earlier && restoreIntent(context, keyed, owner, earlier);
}

/** @throws {IntentError} `idempotency_key_reused` if the earlier request with this key was a different one */
async function restoreIntent(
  context: RouterContext,
  { fingerprint }: KeyedRequest,
  owner: IntentOwner,
  earlier: ReplayedIntent,
): Promise<ReservedIntent> {
  const { id, state, terms } = earlier;
  if (Buffer.compare(earlier.fingerprint, fingerprint) !== 0) {
    const message = 'This Idempotency-Key was used for a different request. Send a new key with each new request.';
    throw new IntentError('idempotency_key_reused', message);
  }
  const clientSecret = await openClientSecret(earlier.sealedSecret, id, owner);
  const unsent = state === 'creating' ? await prepareRetry(context, terms, clientSecret) : undefined;
  return { id, clientSecret, terms, unsent };
}

/** An intent that the first request may have created with an earlier signing key. If the service refuses it, earlier keys are tried. */
async function prepareRetry(
  context: RouterContext,
  terms: RecordedTerms | undefined,
  clientSecret: string,
): Promise<PreparedIntent> {
  const prepared = await prepareIntent(context, terms, clientSecret);
  const hasLogin = terms === undefined || terms.login;
  const earlierSigners = hasLogin ? (context.config.login?.keyRing.signers.slice(1) ?? []) : [];
  const create = async (options?: CallOptions): Promise<CreatedIntent> => {
    try {
      return await prepared.create(options);
    } catch (refusal) {
      if (!isRefusal(refusal)) throw refusal;
      for (const signer of earlierSigners) {
        try {
          return await (await prepareIntent(context, terms, clientSecret, signer)).create(options);
        } catch (error) {
          if (!isRefusal(error)) throw error;
        }
      }
      throw refusal;
    }
  };
  return { ...prepared, create };
}

const isRefusal = (error: unknown): boolean => error instanceof SequencerError && error.code === 'intent_refused';

/** The terms from the site's hook. @throws as `TermsResolver` */
function resolveHookTerms(
  { resolveTerms, config }: RouterContext,
  req: Request,
  body: IntentRequestBody,
): Promise<RecordedTerms> {
  if (!resolveTerms)
    throw new IntentError('not_supported', 'This site accepts no payments. It needs the hook `payment`.');
  return resolveTerms(req, body, config);
}

/**
 * Signs a payment; without terms, a login. Equal arguments produce equal bytes.
 * @param signer signs a login. Default: the current signing key @throws {IntentError} `not_supported`
 */
function prepareIntent(
  { client, config }: RouterContext,
  terms: RecordedTerms | undefined,
  clientSecret?: string,
  signer?: Signer,
): Promise<PreparedIntent> {
  if (!terms) return client.loginIntents.prepare({ ...loginParameters(config, signer), clientSecret });
  const { amount, currency, exact, destination, login } = terms;
  const parameters = { amount, currency, exact, destination, clientSecret };
  return client.paymentIntents.prepare(login ? { ...parameters, ...loginParameters(config, signer) } : parameters);
}

function loginParameters({ login }: RouterContext['config'], signer = login?.keyRing.signer) {
  if (!login || !signer)
    throw new IntentError('not_supported', 'Logins are disabled on this site: it sets `login: false`.');
  return { login: { verifier: signer.publicKey, domain: login.domain }, signers: [signer] };
}

/**
 * Inserts the row of an intent with a key.
 * @returns the intent of a concurrent request that reserved the key first; the given one was not sent and is discarded
 */
async function reserveIntent(
  context: RouterContext,
  keyed: KeyedRequest,
  owner: IntentOwner,
  { id, clientSecret }: PreparedIntent,
  terms: RecordedTerms | undefined,
): Promise<ReservedIntent | undefined> {
  const { ledger, key, fingerprint } = keyed;
  const sealedSecret = sealClientSecret(clientSecret, id, owner);
  const earlier = await ledger.reserve({ id, terms, browser: owner.hash }, { key, fingerprint, sealedSecret });
  return earlier && restoreIntent(context, keyed, owner, earlier);
}

function runOnCreated(
  { hooks }: RouterContext,
  req: Request,
  id: string,
  terms: RecordedTerms | undefined,
): Promise<void> {
  const accepted: AcceptedIntent = terms ? { id, kind: 'payment', ...terms } : { id, kind: 'login' };
  return runHook('onCreated', () => hooks.onCreated?.(accepted, req));
}

function confirmIntent(
  { logins }: RouterContext,
  { keyed, owner }: CreateIntentRequest,
  id: string,
  terms: RecordedTerms | undefined,
): Promise<unknown> | undefined {
  return keyed ? keyed.ledger.confirm(id) : logins.recordIntent({ id, terms, browser: owner.hash });
}

function eventOf({ id: intent, terms, isReplayed }: CreateIntentResult): RouterEventPayload {
  const kind = terms ? 'payment' : 'login';
  if (isReplayed) return { type: 'intent_replayed', intent, kind };
  return { type: 'intent_created', intent, kind, amount: terms?.amount, currency: terms?.currency };
}
