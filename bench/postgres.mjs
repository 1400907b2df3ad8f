// A real Postgres for as long as the benchmark runs, with the binaries that npm has brought.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const program = fileURLToPath(new URL('../test/support/postgres-process.mjs', import.meta.url));

export async function startPostgres() {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { sockets } = JSON.parse((await lines.next()).value);
  child.stdin.write('start\n');
  await lines.next();
  const urlOf = (name) => `postgres://postgres@/${name}?host=${sockets}`;
  let databases = 0;
  return {
    /** The URL of a database of its own. */
    newDatabase: async () => {
      const client = new pg.Client({ connectionString: urlOf('postgres') });
      await client.connect();
      databases += 1;
      await client.query(`create database bench_${databases}`);
      await client.end();
      return urlOf(`bench_${databases}`);
    },
    stop: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
