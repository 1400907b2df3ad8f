import type { Request } from 'express';
import { IntentError } from '../errors.js';
import type { CreatedIntent } from '../sequencer/intent-client.js';
import type { CallOptions } from '../sequencer/transport.js';
import { rememberBrowser } from './browser-cookie.js';
import { departureOf } from './departure.js';
import type { IntentRecord, SitePaymentTerms } from './hooks.js';
import { type IntentRequestBody, parseIntentRequest } from './intent-request.js';
import { readJsonBody } from './read-json-body.js';
import { sendJson } from './respond.js';
import type { Handler, RouterContext } from './router-context.js';

/** An accepted intent, and what the site's hook is told of it. */
interface Accepted {
  readonly created: CreatedIntent;
  readonly record: IntentRecord;
}

/** `POST /intent`: creates a payment or login intent and answers 201 `{ client_secret }`, nothing else. */
export function createIntentHandler(context: RouterContext): Handler {
  const clientAmount = context.hooks.clientAmount !== undefined;
  return async (req, res) => {
    const body = parseIntentRequest(await readJsonBody(req), { clientAmount });
    req.body = body;
    // A create that was sent may have its effect, so it goes on; but nothing is sent for nobody.
    const { created, record } = await create(context, req, body, { sendUntil: departureOf(res) });
    context.webhook?.register(created.id, req);
    await context.hooks.onCreated?.(record, req);
    context.secrets.remember(created.id, created.clientSecret);
    const browser = rememberBrowser(context.browserCookie, req, res);
    if (record.kind === 'login' || record.login) context.attempts.begin(created.id, browser);
    sendJson(res, 201, { client_secret: created.clientSecret });
  };
}

async function create(
  context: RouterContext,
  req: Request,
  body: IntentRequestBody,
  options: CallOptions,
): Promise<Accepted> {
  const { termsOf } = context;
  const mode = body.mode ?? (termsOf ? 'payment' : 'login');
  if (mode === 'login') return createLogin(context, options);
  if (!termsOf) throw new IntentError('not_supported', 'This site takes no payments.');
  return createPayment(context, await termsOf(req, body), options);
}

async function createLogin({ client, config }: RouterContext, options: CallOptions): Promise<Accepted> {
  const created = await client.loginIntents.create(loginParameters(config), options);
  return { created, record: { id: created.id, kind: 'login' } };
}

async function createPayment(
  { client, config, logger }: RouterContext,
  terms: SitePaymentTerms,
  options: CallOptions,
): Promise<Accepted> {
  const { amount, currency, destination = config.destination, metadata = {}, login = false } = terms;
  if (destination === undefined) {
    throw new IntentError(
      'invalid_configuration',
      'No account to pay to: set INTENT_DESTINATION, or return destination.',
    );
  }
  const payment = { amount, currency, destination };
  const parameters = login ? { ...payment, ...loginParameters(config) } : payment;
  const created = await client.paymentIntents.create(parameters, options).catch((error) => {
    // What the browser may choose was checked before, so it is the site that asks for what cannot be asked for.
    if (isRefused(error))
      logger.warn(`express-intents: the payment hook's terms were refused: ${error.message}`, payment);
    throw error;
  });
  return { created, record: { id: created.id, kind: 'payment', ...payment, login, metadata } };
}

const isRefused = (error: unknown): error is IntentError => error instanceof IntentError && error.status < 500;

function loginParameters({ login }: RouterContext['config']) {
  if (!login) throw new IntentError('not_supported', 'This site has no logins.');
  const { domain, keyRing } = login;
  return { login: { verifier: keyRing.signer.publicKey, domain }, signers: [keyRing.signer] };
}
