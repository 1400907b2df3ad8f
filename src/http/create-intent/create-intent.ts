import type { RouterEventPayload } from '../../telemetry/router-event.js';
import { rememberBrowser } from '../request/browser-cookie.js';
import { readJsonBody } from '../request/read-json-body.js';
import { sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import type { AskedIntent, GivenIntent } from './asked-intent.js';
import { createOnce } from './create-once.js';
import { parseIdempotencyKey } from './idempotency-key.js';
import { parseIntentRequest } from './intent-request.js';
import { prepareIntent } from './prepare-intent.js';
import { sendIntent } from './send-intent.js';
import { termsFor } from './terms-for.js';

/** What was paid for is there for as long as the browser has its cookie: 400 days, more than which no browser takes. */
const keptCookieSeconds = 400 * 24 * 3_600;

/**
 * `POST /intent`: creates a payment or login intent and answers 201 `{ client_secret }`, nothing else. With a ledger the
 * intent is written down before its secret leaves, and a request is repeated by its `Idempotency-Key`.
 */
export function createIntentHandler(context: RouterContext): Handler {
  const { ledger, termsOf, hooks, observer } = context;
  const clientAmount = hooks.clientAmount !== undefined;
  return async (req, res) => {
    const body = await parseIntentRequest(await readJsonBody(req), { clientAmount });
    req.body = body;
    // Without a ledger there is nothing that could know the key again.
    const key = ledger && parseIdempotencyKey(req);
    // Before anything can fail: who asks again must be the same browser then.
    const browser = rememberBrowser(context.browserCookie, req, res);
    const asked = { mode: body.mode ?? (termsOf ? 'payment' : 'login'), body, browser, req, res };
    const isRepeatable = ledger && key !== undefined;
    const given = await (isRepeatable ? createOnce(context, ledger, asked, key) : create(context, asked));
    if (given.terms?.resource !== undefined) browser.keep(keptCookieSeconds);
    context.secrets.remember(given.id, given.clientSecret);
    observer?.emit(givenEvent(given));
    sendJson(res, 201, { client_secret: given.clientSecret });
  };
}

function givenEvent({ id: intent, terms, isRepeated }: GivenIntent): RouterEventPayload {
  const kind = terms ? 'payment' : 'login';
  if (isRepeated) return { type: 'intent_repeated', intent, kind };
  return { type: 'intent_created', intent, kind, amount: terms?.amount, currency: terms?.currency };
}

async function create(context: RouterContext, asked: AskedIntent): Promise<GivenIntent> {
  const terms = await termsFor(context, asked);
  const prepared = await prepareIntent(context, terms);
  await sendIntent(context, asked, prepared, terms);
  const { id, clientSecret } = prepared;
  await context.logins.record({ id, terms, browser: asked.browser.hash });
  return { id, clientSecret, terms };
}
