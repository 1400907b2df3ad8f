import type { Request } from 'express';
import type * as zod from 'zod';
import { throwIfAborted } from '../../async/abort.js';
import type { LoginConfig } from '../../config/login.js';
import { IntentError } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import { browserOf } from '../request/browser-cookie.js';
import { departureOf } from '../request/client-disconnect.js';
import { readJsonBody } from '../request/read-json-body.js';
import { requestIdOf } from '../request/request-id.js';
import { sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { callOnLogin } from './call-on-login.js';
import type { SessionStore } from './session-store.js';

interface Body {
  readonly id: string;
  readonly confirm?: true | undefined;
}

/** Where the user is asked first, what they said comes with it. */
export function completionSchema(z: typeof zod, asksFirst: boolean): zod.ZodType<Body> {
  const plain = z.strictObject({ id: z.string().describe('The id of the intent that was begun here.') });
  return asksFirst ? plain.extend({ confirm: z.literal(true).optional() }) : plain;
}

interface Completion {
  /** Base58 */
  readonly id: string;
  readonly isConfirmed: boolean;
}

/**
 * `POST /session` with `{ id }`: completes a login for the browser that began it, and answers `{ user: { id } }`. With
 * the option `confirm` it only tells who would be logged in, `{ confirm: { user: { id } } }`, and makes nothing; then
 * `{ id, confirm: true }` completes it.
 */
export function completeLoginHandler(context: RouterContext, login: LoginConfig, sessions: SessionStore): Handler {
  const { logins, browserCookie, client, observer } = context;
  const { ttlMs, keyRing, confirm } = login;
  let schema: Promise<zod.ZodType<Body>> | undefined;
  return async (req, res) => {
    schema ??= import('zod').then((z) => completionSchema(z, confirm));
    const { id, isConfirmed } = parseCompletion(await readJsonBody(req), await schema, confirm);
    const browser = browserOf(browserCookie, req);
    if (!browser || !(await logins.canCompleteLogin(id, browser, ttlMs))) throw notBegunHere();
    const question = { intent: id, verifier: keyRing.signer };
    const departure = departureOf(res);
    const { userId } = await client.loginIntents.getUserId(question, { sendUntil: departure });
    // The login can be completed once, which must not be spent on a browser that has left.
    throwIfAborted(departure);
    const user = { id: userId };
    if (!isConfirmed) return sendJson(res, 200, { confirm: { user } });
    const completing = { id, browser, ttlMs, userId };
    const isFirst = await logins.completeLogin(completing, (tx) => callOnLogin(context, user, req, { tx, intent: id }));
    // Asking took a while: another request may have completed this login meanwhile, and it counts once.
    if (!isFirst) throw notBegunHere();
    await sessions.start(req, res, user).catch((error) => reopen(context, id, req, error));
    observer?.tell({ type: 'login_completed', intent: id });
    sendJson(res, 200, { user });
  };
}

/** The wallet has done its part: asking again must be enough once the app's store is back. @throws {unknown} `error` */
async function reopen({ logins, logger }: RouterContext, id: string, req: Request, error: unknown): Promise<never> {
  await logins.reopenLogin(id).catch((failure) => {
    const reason = failure instanceof Error ? failure.message : String(failure);
    const line = `express-intents: the login ${id} began no session, and has to be begun anew: ${reason}`;
    logger.warn(line, { requestId: requestIdOf(req).value });
  });
  throw error;
}

/** @throws {IntentError} `unknown_field`, `invalid_request`, `invalid_id` */
function parseCompletion(body: unknown, schema: zod.ZodType<Body>, asksFirst: boolean): Completion {
  const result = schema.safeParse(body);
  if (result.success) {
    const { id, confirm = !asksFirst } = result.data;
    parseIntentId(id);
    return { id, isConfirmed: confirm };
  }
  const fields = asksFirst ? '"id" and "confirm"' : '"id"';
  if (result.error.issues.some(({ code }) => code === 'unrecognized_keys')) {
    throw new IntentError('unknown_field', `The body may have ${fields}, and nothing else.`);
  }
  if (result.error.issues.some(({ path }) => path[0] === 'confirm')) {
    throw new IntentError('invalid_request', 'The field "confirm" must be true, or not there.');
  }
  throw new IntentError('invalid_id', 'The body must be { "id": "<intent id>" }.');
}

function notBegunHere(): IntentError {
  return new IntentError('intent_not_found', 'This browser has begun no such login, or it is over.');
}
