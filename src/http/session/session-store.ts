import type { Request, Response } from 'express';
import type { Config } from '../../config/config.js';
import type { LoginConfig } from '../../config/login.js';
import { hostCookie } from '../request/browser-cookie.js';
import { appSessionOf } from './app-session.js';
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

export function createSessionStore(
  login: LoginConfig,
  { isHttps, sequencer: { timeoutMs } }: Config,
  now: () => number,
): SessionStore {
  const cookie = hostCookie('intent-session', isHttps);
  return {
    read: async (req) => {
      // Where the app has no session, or had none when the login came in: behind us, or with its store down. A login that
      // is kept in the app's session clears the cookie, so one that is there is the later of the two.
      const sealed = cookie.read(req);
      const user = sealed === undefined ? undefined : await openSession(sealed, login.cookieKeys, now());
      return user ?? appSessionOf(req, timeoutMs)?.user;
    },
    start: async (req, res, user) => {
      const session = appSessionOf(req, timeoutMs);
      if (session) {
        await session.start(user);
        if (cookie.read(req) !== undefined) cookie.clear(res);
        return;
      }
      const [key] = login.cookieKeys;
      if (!key) throw new Error('A login needs a key to seal its cookie with.');
      cookie.write(res, await sealSession(user, key, now() + login.sessionTtlMs), Math.ceil(login.sessionTtlMs / 1000));
    },
    end: async (req, res) => {
      const session = appSessionOf(req, timeoutMs);
      // The session of somebody who is not logged in is none of our business.
      if (session?.user) await session.end();
      if (cookie.read(req) !== undefined) cookie.clear(res);
    },
  };
}
