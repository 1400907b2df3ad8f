import type { Request, Response } from 'express';
import type { LoginConfig } from '../config.js';
import { appSessionOf } from './app-session.js';
import { hostCookie } from './browser-cookie.js';
import { openSession, sealSession } from './sealed-session.js';

/** Who is logged in: one Ed25519 public key per wallet and domain, so the same person is another user elsewhere. */
export interface IntentUser {
  /** Base58 of 32 bytes. */
  readonly id: string;
}

/** Where a login is kept: the app's own session when it can be regenerated, else a sealed cookie of ours. */
export interface SessionStore {
  read(req: Request): Promise<IntentUser | undefined>;
  /** Starts a new session, so that an id known before the login is worth nothing after it. */
  start(req: Request, res: Response, user: IntentUser): Promise<void>;
  end(req: Request, res: Response): Promise<void>;
}

export function createSessionStore(login: LoginConfig, production: boolean, now: () => number): SessionStore {
  const cookie = hostCookie('intent-session', production);
  return {
    read: async (req) => {
      const user = appSessionOf(req)?.user;
      if (user) return user;
      // Also where the app has a session now: at the login it may have had none, behind us or with its store down.
      const sealed = cookie.read(req);
      return sealed === undefined ? undefined : openSession(sealed, login.cookieKeys, now());
    },
    start: async (req, res, user) => {
      const session = appSessionOf(req);
      if (session) return session.start(user);
      const [key] = login.cookieKeys;
      if (!key) throw new Error('A login needs a key to seal its cookie with.');
      cookie.write(res, await sealSession(user, key, now() + login.sessionTtlMs), Math.ceil(login.sessionTtlMs / 1000));
    },
    end: async (req, res) => {
      const session = appSessionOf(req);
      // The session of somebody who is not logged in is none of our business.
      if (session?.user) await session.end();
      if (cookie.read(req) !== undefined) cookie.clear(res);
    },
  };
}
