import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const supervisor = fileURLToPath(new URL('../test/support/databases/postgres-process.mjs', import.meta.url));

/** A clock tick of the kernel. */
const tickMs = 10;

/** CPU time of a process and its children. The kernel adds that of exited children to their parent. */
function cpuMsOfTree(pid) {
  const stats = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  let ticks = 0;
  for (const name of stats) {
    const stat = statOf(name);
    if (stat?.pid === pid) ticks += stat.own + stat.exitedChildren;
    else if (stat?.parent === pid) ticks += stat.own;
  }
  return ticks * tickMs;
}

/** Undefined if the process has exited. Fields as in proc(5). */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program can contain any character. It ends at the last bracket.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const at = (number) => Number(fields[number - 3]);
    return { pid: Number(pid), parent: at(4), own: at(14) + at(15), exitedChildren: at(16) + at(17) };
  } catch {
    return undefined;
  }
}

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
