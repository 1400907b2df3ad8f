import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { cpuMsOfTree } from './machine.mjs';

const supervisor = fileURLToPath(new URL('../test/support/databases/postgres-process.mjs', import.meta.url));

/**
 * Starts the Postgres server of the tests, without fsync. It stops with `stop`, or when this process exits.
 * @param settings overrides settings of the server
 */
export async function startPostgres(settings = {}) {
  const child = spawn(process.execPath, [supervisor, JSON.stringify({ settings })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await answers.next()).value);
  const { sockets } = await next();
  child.stdin.write('start\n');
  const { pid } = await next();
  const url = (database) => `postgres://postgres@/${database}?host=${sockets}`;
  const createDatabase = async (name) => {
    const client = new pg.Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
  };
  let databases = 0;
  return {
    pid,
    url,
    createDatabase,
    /** Total CPU time of its processes, in milliseconds. Linux only. */
    cpuMs: () => cpuMsOfTree(pid),
    /** Creates a database. @returns its URL */
    newDatabase: async () => {
      databases += 1;
      await createDatabase(`bench_${databases}`);
      return url(`bench_${databases}`);
    },
    stop: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
