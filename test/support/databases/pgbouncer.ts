import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { temporaryFolder } from '../runner/temporary-folder.js';
import type { PostgresServer } from './postgres-server.js';

// Used only by `*.pgbouncer.test.ts`, which `npm run test:pgbouncer` runs. On Debian it is in a folder that PATH may lack.

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const poolers: ChildProcess[] = [];

/** Starts pgbouncer in transaction mode, with two connections to each database. @returns the URL of a database through it */
export async function startPgbouncer(server: PostgresServer): Promise<(database: string) => string> {
  if (spawnSync('pgbouncer', ['--version'], { env }).error)
    throw new Error('npm run test:pgbouncer needs pgbouncer: apt-get install pgbouncer');
  const folder = temporaryFolder();
  const file = path.join(folder, 'pgbouncer.ini');
  const settings = {
    pool_mode: 'transaction',
    auth_type: 'any',
    unix_socket_dir: folder,
    default_pool_size: 2,
    max_client_conn: 100,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const target = `* = host=${path.dirname(server.socketPath)} user=postgres`;
  writeFileSync(file, ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'));
  chmodSync(folder, 0o755);
  const child = spawn('pgbouncer', ['--quiet', file], {
    env,
    ...userOf(folder),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  poolers.push(child);
  await eventually('pgbouncer listens', () => {
    if (child.exitCode !== null) throw new Error('pgbouncer has ended. Its error is above.');
    return existsSync(path.join(folder, '.s.PGSQL.6432'));
  });
  return (database) => `postgres://postgres@/${database}?host=${folder}&port=6432`;
}

/** pgbouncer does not run as root. Every system has the user `nobody`. */
function userOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))) as [
    number,
    number,
  ];
  chownSync(folder, uid, gid);
  return { uid, gid };
}

afterAll(async () => {
  for (const child of poolers.splice(0)) {
    if (child.exitCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
  }
});
