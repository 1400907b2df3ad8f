import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const supervisor = fileURLToPath(new URL('../test/support/databases/postgres-process.mjs', import.meta.url));

/** A tick of the kernel, on every system that Node runs on. */
const tickMs = 10;

/** Of a process and its children, with those that have ended: what they used up is their parent's. */
function cpuMsOfTree(pid) {
  const stats = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  let ticks = 0;
  for (const name of stats) {
    const stat = statOf(name);
    if (stat?.pid === pid) ticks += stat.own + stat.ofEnded;
    else if (stat?.parent === pid) ticks += stat.own;
  }
  return ticks * tickMs;
}

/** Undefined where the process has just ended. The fields are those of proc(5). */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of a program may hold anything, but is followed by the last bracket.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const at = (number) => Number(fields[number - 3]);
    return { pid: Number(pid), parent: at(4), own: at(14) + at(15), ofEnded: at(16) + at(17) };
  } catch {
    return undefined;
  }
}

/**
 * A real Postgres, from npm, as the tests use it: it does not wait for the disk. It ends with `stop`, or with this process.
 * @param settings what of its settings is to be another
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
    /** CPU time of all its processes so far, in milliseconds. Linux only. */
    cpuMs: () => cpuMsOfTree(pid),
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
