import type { Request } from 'express';
import { withTimeout } from '../../async/timeout.js';
import { IntentError } from '../../errors.js';
import type { IntentUser } from '../hooks.js';

export interface StartingLogin {
  readonly user: IntentUser;
  readonly keep: readonly string[];
  /** The site's hook. It runs with the new session as `req.session`, before that session is stored. */
  readonly onSession: () => Promise<void>;
}

export interface AppSession {
  readonly user: IntentUser | undefined;
  /**
   * Starts a new session with the user and the kept members. If `onSession` rejects, the visitor has the content of the old
   * session, in another new session.
   * @throws {IntentError} `session_unavailable`, `invalid_configuration` @throws what `onSession` throws
   */
  start(login: StartingLogin): Promise<void>;
  /**
   * Starts a new, empty session. cookie-session: deletes the session.
   * @throws {IntentError} `session_unavailable`, `invalid_configuration`
   */
  end(): Promise<void>;
}

interface SessionContent {
  intentUser?: IntentUser;
  [member: string]: unknown;
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
  const req = request as unknown as SessionRequest;
  const { session } = req;
  if (typeof session !== 'object' || session === null) return undefined;
  if (isCookieSession(req)) return replacedSession(req, session);
  return isRegenerable(session) ? regeneratedSession(req, session, timeoutMs) : nonRegenerable;
}

/** Requests whose session the store failed to load, and whose app continues after this error. */
const withoutLoadedSession = new WeakSet<Request>();

/** Called when a request enters the router: later, the app may have removed its session. */
export function noteMissingSession(req: Request): void {
  if ('sessionStore' in req && (req as { session?: unknown }).session === undefined) withoutLoadedSession.add(req);
}

/**
 * Whether express-session or cookie-session has loaded the session, even if the app has removed it since. express-session does not
 * run while its store is disconnected.
 */
export function hasLoadedSession(req: Request): boolean {
  return ('sessionStore' in req && !withoutLoadedSession.has(req)) || 'sessionOptions' in req;
}

export function cannotRegenerate(req: Request): boolean {
  return appSessionOf(req, 0) === nonRegenerable;
}

/** Prevents express-session from saving the session of this request. Middlewares can still read it at the end of the response. */
export function skipSessionSave(req: object): void {
  if ('sessionID' in req) req.sessionID = undefined;
}

interface Replacement {
  /** Replaces `req.session` with a new session that has this content. */
  readonly replace: (content: SessionContent) => Promise<SessionContent>;
  readonly save: () => Promise<void>;
}

/** express-session: the store deletes the old session, and the browser gets a new id. */
function regeneratedSession(req: SessionRequest, before: RegenerableSession, timeoutMs: number): AppSession {
  const discardAndRethrow = (error: unknown): never => {
    // Otherwise express-session saves the session again at the end of the response, and the response waits for it.
    skipSessionSave(req);
    // Later handlers of the request must not see a login that is not stored. They can read and change this session, but not
    // save it.
    const { session } = req;
    if (session) req.session = Object.assign(Object.create(Object.getPrototypeOf(session)), pick(session, ['cookie']));
    throw error;
  };
  const regenerate = async (content: SessionContent): Promise<SessionContent> => {
    const old = requireRegenerable(req);
    await callStore((done) => old.regenerate(done), timeoutMs);
    const session = requireRegenerable(req);
    // A regenerated session is a new object. If it is the old one, the middleware did not regenerate it.
    if (session === old) throw notRegenerated();
    return addTo(session, content);
  };
  const save = async (): Promise<void> => {
    const session = requireRegenerable(req);
    await callStore((done) => session.save(done), timeoutMs);
  };
  return replaceableSession(req, before, {
    replace: (content) => regenerate(content).catch(discardAndRethrow),
    save: () => save().catch(discardAndRethrow),
  });
}

/** cookie-session: there is no id, so new content is a new session. */
function replacedSession(req: SessionRequest, before: SessionContent): AppSession {
  const replace = async (content: SessionContent): Promise<SessionContent> => {
    // Passport needs methods that apps add to this session. They hold no data.
    const methods = Object.entries(before).filter(([, member]) => typeof member === 'function');
    req.session = { ...content, ...Object.fromEntries(methods) };
    // The middleware turns it into a session.
    return req.session;
  };
  const end = async (): Promise<void> => {
    req.session = null;
  };
  return { ...replaceableSession(req, before, { replace, save: async () => undefined }), end };
}

function replaceableSession(req: SessionRequest, before: SessionContent, { replace, save }: Replacement): AppSession {
  const start = async ({ user, keep, onSession }: StartingLogin): Promise<void> => {
    const content = contentOf(before);
    const intentUser = { id: user.id };
    const fresh = await replace({ ...pick(before, keep), intentUser });
    try {
      await onSession();
      const { session } = req;
      if (!session) throw sessionRemoved();
      // The hook may have regenerated the session, as req.login() of passport does.
      if (session !== fresh) addTo(session, pick(fresh, keep));
      session.intentUser = intentUser;
    } catch (error) {
      await replace(content)
        .then(save)
        .catch(() => undefined);
      throw error;
    }
    await save();
  };
  const end = async (): Promise<void> => {
    await replace({});
    await save();
  };
  return { user: userOf(before), start, end };
}

/** A copy of the data of a session, which a hook cannot change. */
function contentOf(session: SessionContent): SessionContent {
  // `cookie` belongs to express-session: each session has its own.
  const { cookie: _cookie, ...content } = JSON.parse(JSON.stringify(session)) as SessionContent;
  return content;
}

function pick(session: SessionContent, names: readonly string[]): SessionContent {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(session, name)).map((name) => [name, session[name]]));
}

/** Adds members that the session does not have. Its methods and its prototype cannot be replaced. */
function addTo<Session extends SessionContent>(session: Session, content: SessionContent): Session {
  const missing = Object.entries(content).filter(([name]) => !(name in session));
  return Object.assign(session, Object.fromEntries(missing));
}

const nonRegenerable: AppSession = {
  user: undefined,
  start: async () => {
    throw notRegenerated();
  },
  end: async () => undefined,
};

function notRegenerated(): IntentError {
  return new IntentError(
    'invalid_configuration',
    'req.session cannot be regenerated, so it cannot hold a login. Use express-session or cookie-session.',
  );
}

function sessionRemoved(): IntentError {
  const message = 'onSession removed req.session, so it cannot hold the login. Change its members instead.';
  return new IntentError('invalid_configuration', message);
}

const userOf = ({ intentUser }: SessionContent): IntentUser | undefined => intentUser && { id: intentUser.id };

function requireRegenerable({ session }: SessionRequest): RegenerableSession {
  if (!session || !isRegenerable(session)) throw notRegenerated();
  return session;
}

function isRegenerable(session: Partial<RegenerableSession>): session is RegenerableSession {
  return typeof session.regenerate === 'function' && typeof session.save === 'function';
}

function isCookieSession({ session, sessionOptions }: SessionRequest): boolean {
  const { isNew, isPopulated } = session as { isNew?: unknown; isPopulated?: unknown };
  return typeof sessionOptions === 'object' && typeof isNew === 'boolean' && typeof isPopulated === 'boolean';
}

/** Calls the store, and waits for its callback: the change must be stored before the response is sent. */
async function callStore(act: (done: (error?: unknown) => void) => unknown, timeoutMs: number): Promise<void> {
  const called = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const returned = act((error) => (error ? reject(error) : resolve()));
      // Some stores return a promise and reject it instead.
      Promise.resolve(returned).catch(reject);
    });
  try {
    await withTimeout(timeoutMs, called);
  } catch (cause) {
    const message = `The app's session store failed, or did not respond within ${timeoutMs} ms. Fix the store. See \`cause\`.`;
    throw new IntentError('session_unavailable', message, { cause });
  }
}
