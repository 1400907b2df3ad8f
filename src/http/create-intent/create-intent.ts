import type { Request, Response } from 'express';
import { IntentError } from '../../errors.js';
import type { Ledger, RecordedTerms, RepeatedIntent } from '../../ledger/ledger.js';
import type { PreparedIntent } from '../../sequencer/intent-client.js';
import type { RouterEventPayload } from '../../telemetry/router-event.js';
import { openClientSecret, sealClientSecret } from '../encryption.js';
import { type KnownBrowser, rememberBrowser } from '../request/browser-cookie.js';
import { disconnectSignal } from '../request/client-disconnect.js';
import { readJson } from '../request/read-body.js';
import { requestIdOf } from '../request/request-id.js';
import { sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { fingerprintOf, type IntentRequestBody, parseIdempotencyKey, parseIntentRequest } from './intent-request.js';
import { normalizeTerms } from './payment-terms.js';

// How an intent is created. The client secret leaves only after the sequencer has accepted the intent and the ledger, where
// there is one, has committed it.
//
// With an `Idempotency-Key` the intent has a row in the ledger before it is sent:
//
//   no row --reserve--> creating --send, onCreated, confirm--> open
//
// A repeated request finds that row. In `creating` it cannot know how far the earlier request got, so it sends the same bytes
// again, which the sequencer takes as the same intent. In every later state it answers with the same client secret.
//
// Without a key no request can be repeated. The intent is recorded once, after the sequencer has accepted it:
//
//   no row --send, onCreated, record--> open

/** A parsed `POST /intent`. */
interface CreateIntentRequest {
  readonly mode: 'payment' | 'login';
  readonly body: IntentRequestBody;
  /** Undefined without an `Idempotency-Key`, and without a ledger, which alone can recognize the key. */
  readonly keyed: KeyedRequest | undefined;
  readonly browser: KnownBrowser;
  readonly req: Request;
  readonly res: Response;
}

interface KeyedRequest {
  readonly ledger: Ledger;
  readonly key: string;
  /** SHA-256 of the request. The same key must come with the same request. */
  readonly fingerprint: Uint8Array;
}

interface CreateIntentResult {
  readonly id: string;
  readonly clientSecret: string;
  /** Undefined for a login. */
  readonly terms: RecordedTerms | undefined;
  /** Whether an earlier request with the same key was answered with this intent. */
  readonly isRepeated: boolean;
}

/** The longest that browsers keep a cookie: the browser that pays for a resource is recognized for so long. */
const resourceCookieSeconds = 400 * 24 * 3_600;

/** `POST /intent`: creates a payment or login intent and answers 201 `{ client_secret }`, and nothing else. */
export function createIntentHandler(context: RouterContext): Handler {
  const { hooks, ledger, resolveTerms, browserCookie, observer } = context;
  const clientAmount = hooks.clientAmount !== undefined;
  return async (req, res) => {
    const body = await parseIntentRequest(await readJson(req), { clientAmount });
    req.body = body;
    const mode = body.mode ?? (resolveTerms ? 'payment' : 'login');
    const key = ledger && parseIdempotencyKey(req);
    const keyed = ledger && key !== undefined ? { ledger, key, fingerprint: fingerprintOf(mode, body) } : undefined;
    // Before the site, the ledger or the sequencer can fail: a retry must come from the same browser.
    const browser = rememberBrowser(browserCookie, req, res);
    const result = await createIntent(context, { mode, body, keyed, browser, req, res });
    if (result.terms?.resource !== undefined) browser.keep(resourceCookieSeconds);
    context.secrets.remember(result.id, result.clientSecret);
    observer?.emit(eventOf(result));
    sendJson(res, 201, { client_secret: result.clientSecret });
  };
}

/** Reserves the intent, sends it, and confirms it. What an earlier request with the same key has done is not done again. */
async function createIntent(context: RouterContext, request: CreateIntentRequest): Promise<CreateIntentResult> {
  const { hooks, webhook, logins } = context;
  const { keyed, browser, req, res } = request;
  const { id, clientSecret, terms, unsent } =
    (await findReserved(context, request)) ?? (await reserveIntent(context, request));
  if (!unsent) return { id, clientSecret, terms, isRepeated: true };

  // Nothing is sent for a client that has disconnected. An intent that was sent may exist, so that call is completed.
  await unsent.create({ cancelBeforeSend: disconnectSignal(res) });
  webhook?.register(id, req);
  await hooks.onCreated?.(terms ? { id, kind: 'payment', ...terms } : { id, kind: 'login' }, req);

  if (keyed) await keyed.ledger.confirm(id);
  else await logins.record({ id, terms, browser: browser.hash });
  return { id, clientSecret, terms, isRepeated: false };
}

/** An intent whose row and client secret are fixed. */
interface ReservedIntent {
  readonly id: string;
  readonly clientSecret: string;
  readonly terms: RecordedTerms | undefined;
  /** What is still to be sent. Undefined once an earlier request has confirmed the intent. */
  readonly unsent: PreparedIntent | undefined;
}

async function findReserved(context: RouterContext, request: CreateIntentRequest): Promise<ReservedIntent | undefined> {
  const { keyed, browser } = request;
  const earlier = await keyed?.ledger.repeated(browser.hash, keyed.key);
  return keyed && earlier && restoreIntent(context, keyed, browser, earlier);
}

/** Asks the site for the terms, signs the intent and, with a key, reserves it in the ledger. */
async function reserveIntent(context: RouterContext, request: CreateIntentRequest): Promise<ReservedIntent> {
  const { keyed, browser } = request;
  const terms = await requestedTerms(context, request);
  const prepared = await prepareIntent(context, terms);
  const { id, clientSecret } = prepared;
  if (keyed) {
    const { ledger, key, fingerprint } = keyed;
    const sealedSecret = await sealClientSecret(clientSecret, id, browser);
    const earlier = await ledger.reserve({ id, terms, browser: browser.hash }, { key, fingerprint, sealedSecret });
    // A concurrent request has reserved the key. What was prepared here was not sent, and is discarded.
    if (earlier) return restoreIntent(context, keyed, browser, earlier);
  }
  return { id, clientSecret, terms, unsent: prepared };
}

/** @throws {IntentError} `idempotency_key_reused` where the key came with another request */
async function restoreIntent(
  context: RouterContext,
  { fingerprint }: KeyedRequest,
  browser: KnownBrowser,
  earlier: RepeatedIntent,
): Promise<ReservedIntent> {
  const { id, state, terms } = earlier;
  if (Buffer.compare(earlier.fingerprint, fingerprint) !== 0) {
    throw new IntentError('idempotency_key_reused', 'Send a new Idempotency-Key with a new request.');
  }
  const clientSecret = await openClientSecret(earlier.sealedSecret, id, browser);
  const unsent = state === 'creating' ? await prepareIntent(context, terms, clientSecret) : undefined;
  return { id, clientSecret, terms, unsent };
}

/** The terms that the site asks for; undefined for a login. @throws what the hook throws */
async function requestedTerms(
  { resolveTerms, config, logger }: RouterContext,
  { mode, req, body }: CreateIntentRequest,
): Promise<RecordedTerms | undefined> {
  if (mode === 'login') return undefined;
  if (!resolveTerms) throw new IntentError('not_supported', 'This site takes no payments.');
  const terms = await resolveTerms(req, body);
  try {
    return normalizeTerms(terms, config);
  } catch (error) {
    const { amount, currency, destination } = terms;
    // The amount of a browser was checked before, so the site has set what is refused here.
    if (error instanceof IntentError && error.status < 500) {
      const message = `express-intents: the payment hook's terms were refused: ${error.message}`;
      logger.warn(message, { requestId: requestIdOf(req).value, amount, currency, destination });
    }
    throw error;
  }
}

/**
 * Signs a payment, or a login where there are no terms. The same terms and client secret make the same intent.
 * @throws {IntentError} `not_supported` for a login where the site has none
 */
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
  if (!login) throw new IntentError('not_supported', 'This site has no logins.');
  const { domain, keyRing } = login;
  return { login: { verifier: keyRing.signer.publicKey, domain }, signers: [keyRing.signer] };
}

function eventOf({ id: intent, terms, isRepeated }: CreateIntentResult): RouterEventPayload {
  const kind = terms ? 'payment' : 'login';
  if (isRepeated) return { type: 'intent_replayed', intent, kind };
  return { type: 'intent_created', intent, kind, amount: terms?.amount, currency: terms?.currency };
}
