import type { Request, Response } from 'express';
import type { Config } from '../../config/config.js';
import type { LoginConfig } from '../../config/login.js';
import { IntentError } from '../../errors.js';
import { openSession, sealSession } from '../encryption.js';
import type { IntentUser } from '../hooks.js';
import { hostCookie } from '../request/browser-cookie.js';
import { type AppSession, appSessionOf, hasLoadedSession } from './app-session.js';

/** Stores logins in the app's session; without one, in a sealed cookie of the router. */
export interface SessionStore {
  /** Returns the user of the latest login. Ends an earlier login of another user that remains in the app's session. */
  read(req: Request): Promise<IntentUser | undefined>;
  /** Starts a new session: the id of the old one becomes invalid. If `onSession` rejects, no session starts. */
  start(req: Request, res: Response, user: IntentUser, onSession: () => Promise<void>): Promise<void>;
  end(req: Request, res: Response): Promise<void>;
}

export function createSessionStore(
  login: LoginConfig,
  { isHttps, sequencer: { timeoutMs } }: Config,
  now: () => number,
): SessionStore {
  const cookieOf = hostCookie('intent-session', isHttps);
  // A login or logout changes only the cookie of the response. Later reads in the same request use this map.
  const changed = new WeakMap<Request, IntentUser | undefined>();
  // Whether this process has stored or read a login in a session of the app.
  let usesAppSession = false;
  const appSession = (req: Request): AppSession | undefined => {
    const session = appSessionOf(req, timeoutMs);
    usesAppSession ||= session?.user !== undefined;
    return session;
  };
  const read = async (req: Request): Promise<IntentUser | undefined> => {
    if (changed.has(req)) return changed.get(req);
    // The cookie has priority. It exists if the app had no session at login: its middleware is after the router, or its store
    // was down. A login in the app's session clears the cookie, so the cookie is always the later login.
    const sealed = cookieOf(req).read(req);
    const id = sealed === undefined ? undefined : await openSession(sealed, login.cookieKeys, now());
    const session = appSession(req);
    if (id === undefined) return session?.user;
    // An earlier login of another user. It would return when the cookie expires, and its data would be visible to this user. If
    // the store fails, the rest of this request has an empty session, and the next request tries again.
    if (session?.user && session.user.id !== id) await session.end().catch(() => undefined);
    return { id };
  };
  const writeCookie = async (req: Request, res: Response, user: IntentUser): Promise<void> => {
    const [key] = login.cookieKeys;
    if (!key) throw new Error('There is no key to seal the session cookie. Set INTENT_SECRET.');
    const { sessionTtlMs } = login;
    const sealed = await sealSession(user.id, key, now() + sessionTtlMs);
    cookieOf(req).write(res, sealed, Math.ceil(sessionTtlMs / 1000));
  };
  const clearCookie = (req: Request, res: Response): void => {
    const cookie = cookieOf(req);
    if (cookie.read(req) !== undefined) cookie.clear(res);
  };
  const start = async (
    req: Request,
    res: Response,
    user: IntentUser,
    onSession: () => Promise<void>,
  ): Promise<void> => {
    // First, because it can replace the session.
    const previous = await read(req);
    const session = appSessionOf(req, timeoutMs);
    if (!session) {
      await onSession();
      return writeCookie(req, res, user);
    }
    // The data of another user must not enter the session of this one.
    const keep = previous === undefined || previous.id === user.id ? login.keepSession : [];
    await session.start({ user, keep, onSession });
    usesAppSession = true;
    clearCookie(req, res);
  };
  return {
    read,
    start: async (req, res, user, onSession) => {
      const startWith = async (): Promise<void> => {
        changed.set(req, user);
        await onSession();
      };
      await start(req, res, user, startWith).catch((error) => {
        changed.delete(req);
        throw error;
      });
    },
    end: async (req, res) => {
      const session = appSession(req);
      // First, because the store of the app can fail.
      clearCookie(req, res);
      changed.set(req, undefined);
      // A session without a login of the router belongs to the app.
      if (session?.user) await session.end();
      // express-session omits the session while its store is disconnected or fails. The stored session may contain a login.
      if (!session && usesAppSession && !hasLoadedSession(req)) {
        const message =
          'The session of the app was not loaded, so a login in it cannot be ended. Check the session store, then retry.';
        throw new IntentError('session_unavailable', message);
      }
    },
  };
}
