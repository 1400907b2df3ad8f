import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const supervisor = fileURLToPath(new URL('../test/support/postgres-process.mjs', import.meta.url));

/**
 * A real Postgres, from npm, as the tests use it: it does not wait for the disk. It ends with `stop`, or with this process.
 * @param settings what of its settings is to be another
 */
export async function startPostgres(settings = {}) {
  const child = spawn(process.execPath, [supervisor, '', JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await answers.next()).value);
  const { sockets } = await next();
  child.stdin.write('start\n');
  await next();
  const url = (database) => `postgres://postgres@/${database}?host=${sockets}`;
  const createDatabase = async (name) => {
    const client = new pg.Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
  };
  let databases = 0;
  return {
    url,
    createDatabase,
    /** The URL of a database of its own. */
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
