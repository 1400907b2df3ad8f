import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../../errors.js';

// The lock is a Unix socket in the folder that somebody listens on: `lock.<id>`. It dies with its process, however that
// ends; a process that sleeps still has it, since the system takes connections in its stead; and it is seen from other
// containers that share the folder, unlike a process id.
//
// Whoever wants the lock listens first, under another name, and then renames the socket. So whatever is called `lock.` and
// refuses a connection is dead for good. Then they look for others: of two at once, at least the one that looks last sees
// the other. Ids are never used twice, so that removing what is dead cannot hit what is alive.

/** An exclusive lock of a folder. */
export interface FolderLock {
  /** The file that others see. Without it they take the folder for free. */
  readonly file: string;
  /** Lets others in. Can be called again. */
  release(): Promise<void>;
}

/** In bytes; Linux takes four more, macOS does not. */
const maxSocketPath = 103;

/** How long others are given that are about to go away: to end, or to see that somebody else was first. */
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
    `The ledger in ${folder} is open already, in another process or in this one, and one alone can have it open. ` +
      'Several processes need Postgres: INTENT_DATABASE_URL=postgres://...',
  );
}

/** Whether somebody has locked a folder that exists. It is only looked at: whoever locks it meanwhile is not in its way. */
export async function isFolderLocked(folder: string): Promise<boolean> {
  return (await look(folder, '')).alive.length > 0;
}

async function tryToLock(folder: string, end: number): Promise<FolderLock | undefined> {
  const id = randomBytes(6).toString('hex');
  const own = `lock.${id}`;
  const server = await listen(folder, `new.${id}`);
  const release = async (): Promise<void> => {
    // In this order, so that it is never there and dead.
    await rm(path.join(folder, own), { force: true });
    server.close();
  };
  try {
    await rename(path.join(folder, `new.${id}`), path.join(folder, own));
    if (await outlasts(folder, own, end)) return { file: path.join(folder, own), release };
  } catch (error) {
    await release();
    // Somebody who has the lock took it for dead.
    if (isMissing(error)) return undefined;
    throw error;
  }
  await release();
  return undefined;
}

/** Whether nobody else is left. Of several the one with the lowest id stays; who has the lock stays, whatever its id. */
async function outlasts(folder: string, own: string, end: number): Promise<boolean> {
  for (;;) {
    const { alive, dead } = await look(folder, own);
    if (alive.length === 0) {
      await Promise.all(dead.map((name) => rm(path.join(folder, name), { force: true })));
      return true;
    }
    if (alive.some((name) => name < own) || performance.now() > end) return false;
    await wait(pauseMs());
  }
}

/** The sockets of the folder but one's own: those that are locks and alive, and those that are dead. */
async function look(folder: string, own: string): Promise<{ alive: string[]; dead: string[] }> {
  const names = (await readdir(folder)).filter((name) => /^(?:lock|new)\.[0-9a-f]{12}$/.test(name) && name !== own);
  const states = await Promise.all(names.map(async (name) => ({ name, isAlive: await answers(folder, name) })));
  return {
    alive: states.filter(({ name, isAlive }) => isAlive && name.startsWith('lock.')).map(({ name }) => name),
    dead: states.filter(({ isAlive }) => !isAlive).map(({ name }) => name),
  };
}

/** Whether somebody listens; what cannot be told counts as somebody. */
async function answers(folder: string, name: string): Promise<boolean> {
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
    // As an exclusive one: in a worker of a cluster it would else be the primary's, and end when that ends.
    server.listen({ path: socket, exclusive: true });
    await once(server, 'listening');
    return server.unref();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `The folder ${folder} cannot be locked, which takes a Unix socket in it (${code}).`;
    throw new IntentError('invalid_configuration', message, { cause: error });
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The shorter of two ways to the same socket. @throws {IntentError} where the system takes neither */
function socketPath(folder: string, name: string): string {
  const absolute = path.resolve(folder, name);
  const relative = path.relative('', absolute);
  const shorter = relative.length < absolute.length ? relative : absolute;
  if (Buffer.byteLength(shorter) <= maxSocketPath) return shorter;
  const message = `The path of the ledger's folder is too long for a socket in it: ${folder}. Choose one under 80 bytes.`;
  throw new IntentError('invalid_configuration', message);
}
