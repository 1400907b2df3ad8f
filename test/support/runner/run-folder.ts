import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// Short, because the path of a Unix socket is limited.
const prefix = 'intents-run-';

/**
 * Runs once before all test files: their temporary folders are in a folder of this run, which is deleted at the end. It is in
 * memory if possible, since hundreds of databases are copied there. Writes of a killed process survive there as well, and no
 * test simulates a power failure.
 */
export default function makeRunFolder(): void {
  const place = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();
  for (const name of readdirSync(place)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length)))) remove(path.join(place, name));
  }
  const own = path.join(place, `${prefix}${process.pid}`);
  // The folder of the previous run, in watch mode.
  remove(own);
  // Postgres runs as another user, which needs access.
  mkdirSync(own, { mode: 0o755 });
  process.once('exit', () => remove(own));
  process.env.TMPDIR = own;
}

/** Whether a folder is in memory, has four gigabytes (twice the usage), and allows programs. */
function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const isMemory = mounts.some((line) => line.includes(` ${folder} tmpfs `) && !line.includes('noexec'));
    return isMemory && bavail * bsize > 4 * 2 ** 30;
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

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
