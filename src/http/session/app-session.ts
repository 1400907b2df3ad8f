import type { Request } from 'express';
import { withTimeout } from '../../async/timeout.js';
import { IntentError } from '../../errors.js';
import type { IntentUser } from '../hooks.js';

/** The operations of a login on `req.session` of the app. */
export interface AppSession {
  readonly user: IntentUser | undefined;
  /**
   * Starts a new session that contains only the user.
   * @throws {IntentError} `session_unavailable`, `invalid_configuration`
   */
  start(user: IntentUser): Promise<void>;
  /** Starts a new, empty session. @throws as `start` */
  end(): Promise<void>;
}

interface SessionContent {
  intentUser?: IntentUser;
}

/** The session of express-session and compatible middlewares. */
interface RegenerableSession extends SessionContent {
  regenerate(done: (error?: unknown) => void): unknown;
  save(done: (error?: unknown) => void): unknown;
}

interface SessionRequest {
  session?: Partial<RegenerableSession> | null | undefined;
  sessionID?: string | undefined;
  sessionOptions?: unknown;
}

/**
 * The app's session; undefined if there is none. It can hold a login only if it can be regenerated, which prevents session
 * fixation.
 * @param timeoutMs timeout of one operation of its store
 */
export function appSessionOf(request: Request, timeoutMs: number): AppSession | undefined {
  const req = request as SessionRequest;
  const { session } = req;
  if (typeof session !== 'object' || session === null) return undefined;
  if (isCookieSession(req)) return replacedSession(req, session);
  return isRegenerable(session) ? regeneratedSession(req, session, timeoutMs) : unrenewable;
}

export function isUnrenewable(req: Request): boolean {
  return appSessionOf(req, 0) === unrenewable;
}

/** express-session: the store deletes the old session, and the browser gets a new id. */
function regeneratedSession(req: SessionRequest, before: RegenerableSession, timeoutMs: number): AppSession {
  const renew = async (user?: IntentUser): Promise<void> => {
    await untilCalledBack((done) => before.regenerate(done), timeoutMs);
    // A regenerated session is a new object. If it is the old one, the middleware did not regenerate it.
    const { session } = req;
    if (!session || session === before || !isRegenerable(session)) throw notRenewed();
    if (user) session.intentUser = { id: user.id };
    await untilCalledBack((done) => session.save(done), timeoutMs);
  };
  const renewOrForget = (user?: IntentUser): Promise<void> =>
    renew(user).catch((error) => {
      // Otherwise express-session saves the session again at the end of the response, and the response waits for it.
      Object.assign(req, { session: undefined, sessionID: undefined });
      throw error;
    });
  return { user: userOf(before), start: (user) => renewOrForget(user), end: () => renewOrForget() };
}

/** cookie-session: there is no id, so new content is a new session. */
function replacedSession(req: SessionRequest, session: SessionContent): AppSession {
  return {
    user: userOf(session),
    start: async ({ id }) => {
      req.session = { intentUser: { id } };
    },
    end: async () => {
      req.session = null;
    },
  };
}

const unrenewable: AppSession = {
  user: undefined,
  start: async () => {
    throw notRenewed();
  },
  end: async () => undefined,
};

function notRenewed(): IntentError {
  return new IntentError(
    'invalid_configuration',
    'req.session cannot be regenerated, so it cannot hold a login. Use express-session or cookie-session.',
  );
}

const userOf = ({ intentUser }: SessionContent): IntentUser | undefined => intentUser && { id: intentUser.id };

function isRegenerable(session: Partial<RegenerableSession>): session is RegenerableSession {
  return typeof session.regenerate === 'function' && typeof session.save === 'function';
}

function isCookieSession({ session, sessionOptions }: SessionRequest): boolean {
  const { isNew, isPopulated } = session as { isNew?: unknown; isPopulated?: unknown };
  return typeof sessionOptions === 'object' && typeof isNew === 'boolean' && typeof isPopulated === 'boolean';
}

/** Waits for the callback of the store: the change must be stored before the response is sent. */
async function untilCalledBack(act: (done: (error?: unknown) => void) => unknown, timeoutMs: number): Promise<void> {
  const called = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const returned = act((error) => (error ? reject(error) : resolve()));
      // Some stores return a promise and reject it instead.
      Promise.resolve(returned).catch(reject);
    });
  try {
    await withTimeout(timeoutMs, called);
  } catch (cause) {
    const message = `The app's session store failed, or did not respond within ${timeoutMs} ms.`;
    throw new IntentError('session_unavailable', message, { cause });
  }
}
