import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// As short as the others: the path of a Unix socket has little room.
const prefix = 'intents-run-';

/**
 * Runs once before all test files: their temporary folders are made in one of this run, which goes when it ends. It is
 * kept in memory where the system has a place for that, since databases are copied there by the hundred. What a killed
 * process has written is in such a folder as well, and no test is about a loss of power.
 */
export default function makeRunFolder(): void {
  const place = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();
  for (const name of readdirSync(place)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length)))) remove(path.join(place, name));
  }
  const own = path.join(place, `${prefix}${process.pid}`);
  // Of a run before, where jest watches.
  remove(own);
  // Postgres runs as another user, who has to get there.
  mkdirSync(own, { mode: 0o755 });
  process.once('exit', () => remove(own));
  process.env.TMPDIR = own;
}

/** Whether a folder is in memory, with four gigabytes, twice what is used at once, and programs can be run there. */
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
