import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const supervisor = fileURLToPath(new URL('../test/support/postgres-process.mjs', import.meta.url));

/** A real Postgres, from npm, as the tests use it: it does not wait for the disk. It ends with `stop`, or with this process. */
export async function startPostgres() {
  const child = spawn(process.execPath, [supervisor], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await answers.next()).value);
  const { sockets } = await next();
  child.stdin.write('start\n');
  await next();
  const url = (database) => `postgres://postgres@/${database}?host=${sockets}`;
  return {
    url,
    createDatabase: async (name) => {
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
    },
    stop: () => child.stdin.end(),
  };
}
