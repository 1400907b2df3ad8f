import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../../errors.js';

// The lock is a Unix socket in the folder on which its process listens: `lock.<id>`. It ends with the process, however that
// ends. A suspended process keeps it, because the system accepts connections for it. Containers that share the folder see it,
// unlike a process id.
//
// A process that wants the lock listens under another name first (`new.<id>`), and then renames the socket. So a socket named
// `lock.` that refuses connections is dead for good. Then it searches for other locks: of two processes at once, at least the
// one that searches last finds the other. Ids are never reused, so removing a dead socket cannot remove a live one.
//
// States: listening as new; renamed, competing; locked, or withdrawn; released.

/** An exclusive lock of a folder. */
export interface FolderLock {
  /** The file that other processes see. Without it the folder looks free to them. */
  readonly file: string;
  /** Can be called again. */
  release(): Promise<void>;
}

/** In bytes, the limit of macOS. That of Linux is four more. */
const maxSocketPath = 103;

/** How long to wait for a process that is about to end or to withdraw. */
const patienceMs = 500;

const pauseMs = (): number => 10 + Math.random() * 20;

/**
 * Locks a folder that exists, against other processes and against this one.
 * @throws {IntentError} `ledger_locked`; `invalid_configuration` where the folder takes no sockets
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const end = performance.now() + patienceMs;
  do {
    const lock = await tryToLock(folder, end);
    if (lock) return lock;
    await wait(pauseMs());
  } while (performance.now() < end);
  throw new IntentError(
    'ledger_locked',
    `The ledger in ${folder} is already open in another process or in this one. Only one can have it open. ` +
      'Several processes need Postgres: INTENT_DATABASE_URL=postgres://...',
  );
}

/** Whether a process has locked an existing folder. Only reads, so it does not interfere with a process that locks it. */
export async function isFolderLocked(folder: string): Promise<boolean> {
  return (await findSockets(folder, '')).alive.length > 0;
}

async function tryToLock(folder: string, end: number): Promise<FolderLock | undefined> {
  const id = randomBytes(6).toString('hex');
  const own = `lock.${id}`;
  const server = await listen(folder, `new.${id}`);
  const release = async (): Promise<void> => {
    // In this order, so that the file never exists without a listener.
    await rm(path.join(folder, own), { force: true });
    server.close();
  };
  try {
    await rename(path.join(folder, `new.${id}`), path.join(folder, own));
    if (await winsAgainst(folder, own, end)) return { file: path.join(folder, own), release };
  } catch (error) {
    await release();
    // The holder of the lock removed it as dead.
    if (isMissing(error)) return undefined;
    throw error;
  }
  await release();
  return undefined;
}

/** Whether no other lock is left. Of several competitors the lowest id wins; a process that has the lock keeps it. */
async function winsAgainst(folder: string, own: string, end: number): Promise<boolean> {
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

/** True also where it cannot be determined. */
async function isListening(folder: string, name: string): Promise<boolean> {
  const socket = connect(socketPath(folder, name));
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
  const socket = socketPath(folder, name);
  const server = createServer((caller) => caller.on('error', () => undefined).destroy());
  try {
    // Not shared: the socket of a cluster worker would belong to the primary process and end with it.
    server.listen({ path: socket, exclusive: true });
    await once(server, 'listening');
    return server.unref();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `The folder ${folder} cannot be locked: no Unix socket can be created in it (${code}). Choose a folder on a local disk.`;
    throw new IntentError('invalid_configuration', message, { cause: error });
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The shorter of the absolute and the relative path. @throws {IntentError} where both are too long for the system */
function socketPath(folder: string, name: string): string {
  const absolute = path.resolve(folder, name);
  const relative = path.relative('', absolute);
  const shorter = relative.length < absolute.length ? relative : absolute;
  if (Buffer.byteLength(shorter) <= maxSocketPath) return shorter;
  const message = `The path of the ledger's folder is too long for a socket in it: ${folder}. Choose a path under 80 bytes.`;
  throw new IntentError('invalid_configuration', message);
}
