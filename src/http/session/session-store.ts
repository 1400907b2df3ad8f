import type { Request, Response } from 'express';
import type { Config } from '../../config/config.js';
import type { LoginConfig } from '../../config/login.js';
import { openSession, sealSession } from '../encryption.js';
import type { IntentUser } from '../hooks.js';
import { hostCookie } from '../request/browser-cookie.js';
import { appSessionOf } from './app-session.js';

/** Stores logins in the app's session; without one, in a sealed cookie of ours. */
export interface SessionStore {
  read(req: Request): Promise<IntentUser | undefined>;
  /** Starts a new session, so that a session id from before the login is invalid after it. */
  start(req: Request, res: Response, user: IntentUser): Promise<void>;
  end(req: Request, res: Response): Promise<void>;
}

export function createSessionStore(
  login: LoginConfig,
  { isHttps, sequencer: { timeoutMs } }: Config,
  now: () => number,
): SessionStore {
  const cookie = hostCookie('intent-session', isHttps);
  return {
    read: async (req) => {
      // The cookie has priority. It exists if the app had no session at login: its middleware is after the router, or its store
      // was down. A login in the app's session clears the cookie, so the cookie is always the later login.
      const sealed = cookie.read(req);
      const id = sealed === undefined ? undefined : await openSession(sealed, login.cookieKeys, now());
      return id === undefined ? appSessionOf(req, timeoutMs)?.user : { id };
    },
    start: async (req, res, user) => {
      const session = appSessionOf(req, timeoutMs);
      if (session) {
        await session.start(user);
        if (cookie.read(req) !== undefined) cookie.clear(res);
        return;
      }
      const [key] = login.cookieKeys;
      if (!key) throw new Error('There is no key to seal the session cookie. Set INTENT_SECRET.');
      const { sessionTtlMs } = login;
      cookie.write(res, await sealSession(user.id, key, now() + sessionTtlMs), Math.ceil(sessionTtlMs / 1000));
    },
    end: async (req, res) => {
      const session = appSessionOf(req, timeoutMs);
      // A session without our login belongs to the app.
      if (session?.user) await session.end();
      if (cookie.read(req) !== undefined) cookie.clear(res);
    },
  };
}
