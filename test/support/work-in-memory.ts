import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';

const memory = '/dev/shm';
const prefix = 'express-intents-run-';

/**
 * Runs once before all test files: their temporary folders are kept in memory where the system has a place for that,
 * since databases are copied there by the hundred. What a killed process has written is in such a folder as well, and no
 * test is about a loss of power.
 */
export default function workInMemory(): void {
  if (!hasRoom()) return;
  for (const name of readdirSync(memory)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length)))) remove(name);
  }
  const own = `${prefix}${process.pid}`;
  // Postgres runs as another user, who has to get there.
  mkdirSync(path.join(memory, own), { mode: 0o755 });
  process.once('exit', () => remove(own));
  process.env.TMPDIR = path.join(memory, own);
}

/** Whether there are four gigabytes, twice what is used at once, and programs can be run there. */
function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    const isMounted = /^\S+ \/dev\/shm tmpfs (?!.*noexec)/m.test(readFileSync('/proc/mounts', 'utf8'));
    return isMounted && bavail * bsize > 4 * 2 ** 30;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function remove(name: string): void {
  rmSync(path.join(memory, name), { recursive: true, force: true, maxRetries: 10 });
}
