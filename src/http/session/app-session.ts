import type { Request } from 'express';
import { withTimeout } from '../../async/timeout.js';
import { IntentError } from '../../errors.js';
import type { IntentUser } from './session-store.js';

/** The session the app has put on the request, as far as a login needs it. */
export interface AppSession {
  readonly user: IntentUser | undefined;
  /**
   * Begins a new session, with nothing in it but the user.
   * @throws {IntentError} `session_unavailable`, `invalid_configuration`
   */
  start(user: IntentUser): Promise<void>;
  /** Begins a new session, with nothing in it. @throws as `start` */
  end(): Promise<void>;
}

interface SessionContent {
  intentUser?: IntentUser;
}

/** What express-session, and stores made like it, put at `req.session`. */
interface RegenerableSession extends SessionContent {
  regenerate(done: (error?: unknown) => void): unknown;
  save(done: (error?: unknown) => void): unknown;
}

/** A request behind the one or the other. */
interface SessionRequest {
  session?: Partial<RegenerableSession> | null | undefined;
  sessionID?: string | undefined;
  sessionOptions?: unknown;
}

/**
 * The app's session; undefined where there is none. It keeps a login only where it can be renewed, which is what keeps
 * the login from being fixated.
 * @param timeoutMs how long its store may take for one step
 */
export function appSessionOf(request: Request, timeoutMs: number): AppSession | undefined {
  const req = request as SessionRequest;
  const { session } = req;
  if (typeof session !== 'object' || session === null) return undefined;
  if (isCookieSession(req)) return replacedSession(req, session);
  return isRegenerable(session) ? regeneratedSession(req, session, timeoutMs) : unrenewable;
}

/** Whether the app has a session that no login can be kept in. */
export function isUnrenewable(req: Request): boolean {
  return appSessionOf(req, 0) === unrenewable;
}

/** Of express-session: the store forgets the old one, and the browser gets another id. */
function regeneratedSession(req: SessionRequest, before: RegenerableSession, timeoutMs: number): AppSession {
  const renew = async (user?: IntentUser): Promise<void> => {
    await settled((done) => before.regenerate(done), timeoutMs);
    // Regenerating puts another object there; what only says that it did so has not.
    const { session } = req;
    if (!session || session === before || !isRegenerable(session)) throw notRenewed();
    if (user) session.intentUser = { id: user.id };
    await settled((done) => session.save(done), timeoutMs);
  };
  const renewOrForget = (user?: IntentUser): Promise<void> =>
    renew(user).catch((error) => {
      // Else it would be saved once more when the answer ends, which would wait for it.
      Object.assign(req, { session: undefined, sessionID: undefined });
      throw error;
    });
  return { user: userOf(before), start: (user) => renewOrForget(user), end: () => renewOrForget() };
}

/** Of cookie-session: there is no id, so that another content is another session. */
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
    'req.session cannot be renewed, so no login is kept in it. Use express-session or cookie-session.',
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

/** The answer must not go out before the store has taken the change, so its callbacks are waited for, within reason. */
async function settled(act: (done: (error?: unknown) => void) => unknown, timeoutMs: number): Promise<void> {
  const called = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const returned = act((error) => (error ? reject(error) : resolve()));
      // A store may tell of its failure by a promise instead.
      Promise.resolve(returned).catch(reject);
    });
  try {
    await withTimeout(timeoutMs, called);
  } catch (cause) {
    const message = `The store of the app's session has failed, or not answered within ${timeoutMs} ms.`;
    throw new IntentError('session_unavailable', message, { cause });
  }
}
