import { createHash, randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { core, ZodType } from 'zod';
import { throwIfAborted } from '../../async/abort.js';
import { BoundedMap } from '../../async/bounded-map.js';
import { hookTimeoutError, withTimeout } from '../../async/timeout.js';
import type { Config } from '../../config/config.js';
import type { LoginConfig } from '../../config/login.js';
import { IntentError, messageOf } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import { cancelBeforeSend } from '../../sequencer/transport.js';
import { loadBodySchemas, parseIdempotencyKey, unknownField } from '../create-intent/intent-request.js';
import { runHook } from '../hook-errors.js';
import type { IntentUser, LoginHookContext } from '../hooks.js';
import { browserHashOf } from '../request/browser-cookie.js';
import { disconnectSignal } from '../request/client-disconnect.js';
import { readJson, requireJson } from '../request/read-body.js';
import { requestIdOf } from '../request/request-id.js';
import { sendEmpty, sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import type { SessionStore } from './session-store.js';

/**
 * `POST /session` with `{ id }`: completes a login for the browser that started it, and responds with `{ user: { id } }`. With
 * the option `confirm` it changes nothing and responds with `{ confirm: { user: { id } } }`, so that the page can ask the user.
 * `{ id, confirm: true }` then completes the login.
 *
 * A login is completed once. If the response was lost, and the new session with it, the browser retries with the same
 * `Idempotency-Key`. Within two minutes this process, or with a ledger any, then starts another session, without a second `onLogin`.
 * For another key this happens only if the browser is already logged in as the user of this login.
 */
export function completeLoginHandler(context: RouterContext, login: LoginConfig, sessions: SessionStore): Handler {
  const { logins, browserCookie, fetchUserId, observer } = context;
  const { ttlMs, keyRing } = login;
  const parse = completionParser(login.confirm);
  const completions = new BoundedMap<Promise<IntentUser | undefined>>({
    ttlMs: retryTtlMs,
    capacity: 10_000,
    now: context.monotonicNow,
  });
  return async (req, res) => {
    const { id, isConfirmed } = await parse(await readJson(req));
    const browser = browserHashOf(browserCookie, req);
    const retryKey = browser && retryKeyOf(req, id, browser);
    const startSession = (user: IntentUser) => sessions.start(req, res, user, () => callOnSession(context, user, req));
    /** Responds again if an earlier or concurrent request with this key has completed the login. @returns whether it responded */
    const replayCompletion = async (): Promise<boolean> => {
      const user = retryKey && (await completions.get(retryKey)?.catch(() => undefined));
      if (!user) return false;
      await startSession(user);
      sendJson(res, 200, { user });
      return true;
    };
    /** Responds to a request for a login that cannot be completed, or not any more. @throws `intent_not_found` */
    const answerCompleted = async (): Promise<void> => {
      if (await replayCompletion()) return;
      const done = retryKey && (await logins.findCompletion({ id, browser, key: retryKey }, retryTtlMs));
      if (!done || !(done.isSameRequest || done.userId === (await sessions.read(req))?.id)) throw notStartedHere();
      const user = { id: done.userId };
      // The session of the browser may be older than this login.
      await startSession(user);
      sendJson(res, 200, { user });
    };
    if (await replayCompletion()) return;
    if (!browser || !(await logins.canCompleteLogin(id, browser, ttlMs))) return answerCompleted();

    const disconnect = disconnectSignal(res);
    const userId = await fetchUserId(keyRing.signers, id, cancelBeforeSend(disconnect));
    // A login can be completed once. A disconnected browser would not receive the result.
    throwIfAborted(disconnect);
    const user = { id: userId };
    if (!isConfirmed) return sendJson(res, 200, { confirm: { user } });

    const complete = async (): Promise<IntentUser | undefined> => {
      const completing = { id, browser, ttlMs, userId, key: retryKey ?? randomUUID() };
      const isFirst = await logins.completeLogin(completing, (tx) =>
        callOnLogin(context, user, req, { tx, intent: id }),
      );
      if (!isFirst) return undefined;
      await startSession(user).catch((error) => reopenLogin(context, completing, req, error));
      return user;
    };
    const completion = complete().catch((error) => {
      if (retryKey) completions.delete(retryKey);
      throw error;
    });
    if (retryKey && !completions.get(retryKey)) completions.set(retryKey, completion);
    if (!(await completion)) return answerCompleted(); // Another request has completed it.
    if (retryKey) completions.set(retryKey, completion);
    observer?.emit({ type: 'login_completed', intent: id });
    sendJson(res, 200, { user });
  };
}

/** The button retries for two minutes. */
const retryTtlMs = 120_000;

/** Identifies the retries of one request. The page keeps the key in memory, so it cannot be reused after a logout. */
function retryKeyOf(req: Request, id: string, browser: Uint8Array): string | undefined {
  const key = parseIdempotencyKey(req);
  return key && createHash('sha256').update(browser).update(`${id} ${key}`).digest('base64');
}

/** The timeout of these hooks without a ledger. With one, `ledger.hookLimits.timeoutMs` applies. */
const defaultHookTimeoutMs = 30_000;

/** Calls the site's hook `onLogin`, with a timeout because a transaction waits for it. @throws as `runHook` */
async function callOnLogin(
  { hooks: { onLogin }, config }: RouterContext,
  user: IntentUser,
  req: Request,
  hookContext: LoginHookContext,
): Promise<void> {
  if (onLogin) await callHook('onLogin', config, () => onLogin(user, req, hookContext));
}

async function callOnSession(
  { hooks: { onSession }, config }: RouterContext,
  user: IntentUser,
  req: Request,
): Promise<void> {
  if (onSession) await callHook('onSession', config, () => onSession(user, req));
}

async function callHook(name: string, { ledger }: Config, call: () => void | Promise<void>): Promise<void> {
  const timeoutMs = ledger?.hookTimeoutMs ?? defaultHookTimeoutMs;
  const error = hookTimeoutError(name, timeoutMs, ledger !== undefined);
  await runHook(name, () => withTimeout(timeoutMs, call, { error }));
}

/** The wallet has confirmed, so a retry must succeed once the session store works again. @throws {unknown} `error` */
async function reopenLogin(
  { logins, logger }: RouterContext,
  { id, key }: { readonly id: string; readonly key: string },
  req: Request,
  error: unknown,
): Promise<never> {
  await logins.reopenLogin(id, key).catch((failure) => {
    const reason = messageOf(failure);
    const line = `express-intents: login ${id} has no session. Only a retry with the same Idempotency-Key can start one: ${reason}`;
    logger.warn(line, { requestId: requestIdOf(req).value });
  });
  throw error;
}

function notStartedHere(): IntentError {
  return new IntentError(
    'intent_not_found',
    'This browser did not start this login, or the login is completed or expired. Start a new login.',
  );
}

interface CompletionBody {
  readonly id: string;
  readonly confirm?: true | undefined;
}

interface Completion {
  readonly id: string;
  readonly isConfirmed: boolean;
}

/** @returns a parser that throws `unknown_field`, `invalid_request` and `invalid_id` */
function completionParser(confirms: boolean): (body: unknown) => Promise<Completion> {
  return async (body) => {
    const { completionSchema, confirmedCompletionSchema } = await loadBodySchemas();
    const schema: ZodType<CompletionBody> = confirms ? confirmedCompletionSchema : completionSchema;
    const result = schema.safeParse(body);
    if (!result.success) throw completionError(result.error.issues, confirms);
    const { id, confirm = !confirms } = result.data;
    parseIntentId(id);
    return { id, isConfirmed: confirm };
  };
}

function completionError(issues: readonly core.$ZodIssue[], confirms: boolean): IntentError {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown) return unknownField(unknown, confirms ? ['id', 'confirm'] : ['id']);
  if (issues.some(({ path }) => path[0] === 'confirm')) {
    return new IntentError('invalid_request', 'The field "confirm" must be true or omitted.');
  }
  return new IntentError('invalid_id', 'The body must be { "id": "<intent id>" }.');
}

/** `GET /session`: the logged-in user, `{ user: { id } }` or `{ user: null }`. */
export function getSessionHandler(sessions: SessionStore): Handler {
  return async (req, res) => {
    sendJson(res, 200, { user: (await sessions.read(req)) ?? null });
  };
}

/** `DELETE /session`: logs out and responds with 204, even if no user was logged in. */
export function logOutHandler(context: RouterContext): Handler {
  return async (req, res) => {
    // The body is optional. Content types that a form can send are rejected.
    if (req.headers['content-type'] !== undefined) requireJson(req);
    await endSession(context, req, res);
    sendEmpty(res, 204);
  };
}

export async function endSession({ sessions, observer }: RouterContext, req: Request, res: Response): Promise<void> {
  await sessions?.end(req, res);
  observer?.emit({ type: 'logged_out' });
}
