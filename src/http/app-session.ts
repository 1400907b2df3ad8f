import type { Request } from 'express';
import type { IntentUser } from './session-store.js';

/** The session the app has put on the request, as far as a login needs it. */
export interface AppSession {
  readonly user: IntentUser | undefined;
  start(user: IntentUser): Promise<void>;
  end(): Promise<void>;
}

/** What express-session, and stores made like it, put at `req.session`. */
interface RegenerableSession {
  intentUser?: IntentUser;
  regenerate(done: (error?: unknown) => void): unknown;
  save(done: (error?: unknown) => void): unknown;
}

/** The app's session; undefined where there is none that can be regenerated, which is what keeps a login from being fixated. */
export function appSessionOf(req: Request): AppSession | undefined {
  if (!sessionOf(req)) return undefined;
  // Regenerating puts another object at req.session, so it is looked up anew each time.
  const renew = async (user?: IntentUser): Promise<void> => {
    await settled((done) => requireSession(req).regenerate(done));
    const session = requireSession(req);
    if (user) session.intentUser = { id: user.id };
    await settled((done) => session.save(done));
  };
  const user = sessionOf(req)?.intentUser;
  return {
    user: user && { id: user.id },
    start: (newUser) => renew(newUser),
    end: () => renew(),
  };
}

function sessionOf(req: Request): RegenerableSession | undefined {
  const session = (req as { session?: Partial<RegenerableSession> | null }).session;
  const canRenew = typeof session?.regenerate === 'function' && typeof session.save === 'function';
  return canRenew ? (session as RegenerableSession) : undefined;
}

function requireSession(req: Request): RegenerableSession {
  const session = sessionOf(req);
  if (!session) throw new Error("The app's session went away while it was renewed.");
  return session;
}

/** The answer must not go out before the store has taken the change, so its callbacks are waited for. */
function settled(act: (done: (error?: unknown) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const returned = act((error) => (error ? reject(error) : resolve()));
    // A store may tell of its failure by a promise instead.
    Promise.resolve(returned).catch(reject);
  });
}
