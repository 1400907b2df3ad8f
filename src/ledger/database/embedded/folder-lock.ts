import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { jitteredMs } from '../../../async/backoff.js';
import { IntentError } from '../../../errors.js';

// The lock is a Unix socket in the folder, `lock.<id>`, on which its process listens. The system releases it when the
// process ends. A suspended process keeps it, because the system accepts connections for it. Containers that share the
// folder can check it, which is not possible with a process id.
//
//     listening   on `new.<id>`    -- rename ---------------------------------> competing
//     competing   on `lock.<id>`   -- no other lock is alive -----------------> locked
//     competing                    -- a lock with a lower id, or a timeout ---> withdrawn
//     locked                       -- release, or the end of the process -----> released
//
// A process listens before the rename, so a `lock.` socket that refuses connections stays dead. It searches for
// other locks after the rename, so of two processes at least the later one finds the other. Ids are never reused, so
// removing a dead `lock.` socket cannot remove a live one.
//
// Windows has no sockets in folders. There the process listens on a named pipe with this id, and the file is empty.

export interface FolderLock {
  /** The file that other processes check. Without it the folder seems free to them. */
  readonly file: string;
  /** Can be called again. */
  release(): Promise<void>;
}

/** In bytes: the limit of macOS. Linux allows four more. */
const maxSocketPath = 103;

/** How long to wait for a process that may be about to end or to withdraw. */
const timeoutMs = 500;

const pauseMs = (): number => jitteredMs(30, 2 / 3);

/** Locks an existing folder. @throws {IntentError} `ledger_locked`; `invalid_configuration` if it cannot hold a socket */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const end = performance.now() + timeoutMs;
  do {
    const lock = await tryToLock(folder, end);
    if (lock) return lock;
    await wait(pauseMs());
  } while (performance.now() < end);
  throw new IntentError(
    'ledger_locked',
    `The ledger in ${folder} is already open in another process or in this one. Only one router can open it. Stop the other ` +
      'process, or close the other router. For several processes use Postgres: INTENT_DATABASE_URL=postgres://...',
  );
}

/** Whether a process has locked an existing folder. Creates no lock, so it does not disturb a process that locks it. */
export async function isFolderLocked(folder: string): Promise<boolean> {
  return (await findSockets(folder, '')).alive.length > 0;
}

async function tryToLock(folder: string, end: number): Promise<FolderLock | undefined> {
  const id = randomBytes(6).toString('hex');
  const own = `lock.${id}`;
  const server = await listen(folder, `new.${id}`);
  const release = async (): Promise<void> => {
    // In this order: the file never exists without a listener.
    await rm(path.join(folder, own), { force: true });
    server.close();
  };
  try {
    await rename(path.join(folder, `new.${id}`), path.join(folder, own));
    if (await winsLock(folder, own, end)) return { file: path.join(folder, own), release };
  } catch (error) {
    await release();
    // The holder of the lock found this socket dead and removed it.
    if (isMissing(error)) return undefined;
    throw error;
  }
  await release();
  return undefined;
}

/** Whether no other lock is left. The lowest id of the competitors wins; a process that has the lock keeps it. */
async function winsLock(folder: string, own: string, end: number): Promise<boolean> {
  for (;;) {
    const { alive, dead } = await findSockets(folder, own);
    if (alive.length === 0) {
      await Promise.all(dead.map((name) => rm(path.join(folder, name), { force: true })));
      return true;
    }
    if (alive.some((name) => name < own) || performance.now() > end) return false;
    await wait(pauseMs());
  }
}

/** The sockets of the folder other than `own`: live locks, and dead sockets. */
async function findSockets(folder: string, own: string): Promise<{ alive: string[]; dead: string[] }> {
  const names = (await readdir(folder)).filter((name) => /^(?:lock|new)\.[0-9a-f]{12}$/.test(name) && name !== own);
  const states = await Promise.all(names.map(async (name) => ({ name, isAlive: await isListening(folder, name) })));
  return {
    alive: states.filter(({ name, isAlive }) => isAlive && name.startsWith('lock.')).map(({ name }) => name),
    dead: states.filter(({ isAlive }) => !isAlive).map(({ name }) => name),
  };
}

/** Also true if that cannot be determined. */
async function isListening(folder: string, name: string): Promise<boolean> {
  const socket = connect(addressOf(folder, name));
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(2_000) });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' && !isMissing(error);
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

async function listen(folder: string, name: string): Promise<Server> {
  const address = addressOf(folder, name);
  const server = createServer((caller) => caller.on('error', () => undefined).destroy());
  try {
    // `exclusive`: the socket of a cluster worker would otherwise belong to the primary process.
    server.listen({ path: address, exclusive: true });
    await once(server, 'listening');
    if (isWindows()) await writeFile(path.join(folder, name), '', { flag: 'wx' });
    return server.unref();
  } catch (error) {
    server.close();
    const { code } = error as NodeJS.ErrnoException;
    const kind = isWindows() ? 'file' : 'Unix socket';
    const message =
      `The folder ${folder} cannot be locked: no ${kind} can be created in it (${code}). ` +
      'Choose a writable folder on a local disk.';
    throw new IntentError('invalid_configuration', message, { cause: error });
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const isWindows = (): boolean => process.platform === 'win32';

/** Where the process of a file listens. `lock.<id>` and `new.<id>` have the same address on Windows. */
const addressOf = (folder: string, name: string): string =>
  isWindows() ? `\\\\.\\pipe\\express-intents-${name.split('.')[1]}` : socketPath(folder, name);

/** The shorter of the absolute and the relative path. @throws {IntentError} if both are too long for the system */
function socketPath(folder: string, name: string): string {
  const absolute = path.resolve(folder, name);
  const relative = path.relative('', absolute);
  const shorter = relative.length < absolute.length ? relative : absolute;
  if (Buffer.byteLength(shorter) <= maxSocketPath) return shorter;
  const message = `The path of the ledger folder is too long for a socket in it: ${folder}. Choose a path shorter than 80 bytes.`;
  throw new IntentError('invalid_configuration', message);
}
