import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateKeyPair } from '../../src/index.js';
import { createWallet, type Wallet } from '../../src/simulator/index.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { type ChildProgram, compile, start } from '../support/runner/child-program.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { type Balancer, startBalancer } from './balancer.js';
import { startNginxBalancer } from './nginx-balancer.js';

/** A site of several processes with one Postgres behind a load balancer, all outside of this process. */
export interface Fleet {
  readonly simulator: { readonly url: string; wallet(name: string): Wallet };
  readonly server: PostgresServer;
  readonly balancer: Balancer;
  /** The origin of the balancer. */
  readonly origin: string;
  /** The origin of each process. */
  readonly origins: readonly string[];
  readonly processes: readonly ChildProgram[];
  /** The output of all processes so far, or of the nth started one. */
  printed(nth?: number): string;
  sql(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Replaces a process, which is killed with `kill -9` or terminated, optionally by one of another program. */
  replace(index: number, signal: 'SIGKILL' | 'SIGTERM', by?: string): Promise<void>;
}

export const domain = 'example.com';

export interface FleetOptions {
  /** Options of each router, as JSON, and `limit` and `sessions` (see site-program.ts). */
  readonly router?: object;
  /** The URL of the database for the sites, for example that of a relay. */
  readonly reach?: (server: PostgresServer, database: string) => Promise<string>;
  /** Whether the sites have a database, with ledger and sessions. Default true. */
  readonly isRecorded?: boolean;
  /** The compiled site-program.ts. Default: with the sources. */
  readonly program?: string | undefined;
}

/** Created before the processes start, since concurrent processes would conflict. */
const sessionTable = createRequire(import.meta.url).resolve('connect-pg-simple/table.sql');
const recorder = fileURLToPath(new URL('./record-process.mjs', import.meta.url));
/** The time until a balancer without failure detection learns that a process ended, in milliseconds. */
const noticeMs = 300;

export async function startFleet(
  size: number,
  { router = {}, reach, isRecorded = true, program: given }: FleetOptions = {},
): Promise<Fleet> {
  const [server, program, balancer] = await Promise.all([
    isRecorded ? startPostgres() : undefined,
    given ?? compile(new URL('./site-program.ts', import.meta.url)),
    // `npm run test:nginx` sets it.
    process.env.BALANCER === 'nginx' ? startNginxBalancer() : startBalancer(),
  ]);
  const { origin } = balancer;
  const url = await startPaymentService(origin);
  const database = (await server?.createDatabase()) ?? '';
  const sql: Fleet['sql'] = async (text, values) => server?.run(database, text, values) ?? [];
  await sql('create table public.fulfilled (intent_id text, by text)');
  await sql(`${readFileSync(sessionTable, 'utf8')}; grant all on all tables in schema public to public`);
  const record = temporaryFolder();
  const nodeOptions = `${process.env.NODE_OPTIONS ?? ''} --import ${recorder}`;
  const env = {
    INTENT_SEQUENCER_URL: url,
    INTENT_VERIFIER_SECRET: generateKeyPair().secret,
    INTENT_DOMAIN: domain,
    INTENT_ORIGIN: origin,
    INTENT_DESTINATION: generateKeyPair().publicKey,
    FLEET_DATABASE: server ? await (reach?.(server, database) ?? server.url(database)) : '',
    FLEET_OPTIONS: JSON.stringify(router),
  };
  let started = 0;
  const launch = async (at = 0, file = program) => {
    started += 1;
    const own = { FLEET_NAME: `process ${started}`, PORT: String(at), NODE_OPTIONS: nodeOptions, FLEET_RECORD: record };
    const child = start(file, [], { ...env, ...own });
    const { port } = (await child.next()) as { port: number };
    return { child, port };
  };
  // The store of the rate limits creates its tables at startup, and fails if another process does so at the same time.
  const first = await launch();
  const running = [first, ...(await Promise.all(Array.from({ length: size - 1 }, () => launch())))];
  const ports = running.map(({ port }) => port);
  await balancer.use(ports);
  const relaunch = async (index: number, signal: NodeJS.Signals, file?: string, between = async () => {}) => {
    const { child, port } = running[index] ?? none(index);
    child.process.kill(signal);
    await child.ended;
    await between();
    running[index] = await launch(port, file);
  };
  const kill = async (index: number, port: number, file?: string): Promise<void> => {
    const notice = async (): Promise<void> => {
      await wait(noticeMs);
      if (!balancer.detectsFailures) await balancer.use(ports.filter((each) => each !== port));
    };
    await relaunch(index, 'SIGKILL', file, notice);
    await balancer.use(ports);
  };
  return {
    ...{ balancer, origin, sql },
    printed: (nth) =>
      readdirSync(record)
        .filter((name) => nth === undefined || name === `process ${nth}.log`)
        .map((name) => readFileSync(path.join(record, name), 'utf8'))
        .join(''),
    simulator: { url, wallet: (name) => createWallet({ url, name }) },
    get server() {
      return server ?? none('database');
    },
    origins: ports.map((port) => `http://127.0.0.1:${port}`),
    get processes() {
      return running.map(({ child }) => child);
    },
    replace: (index, signal, by) => {
      const port = ports[index] ?? none(index);
      if (signal === 'SIGKILL') return kill(index, port, by);
      return balancer.without(port, () => relaunch(index, signal, by));
    },
  };
}

async function startPaymentService(origin: string): Promise<string> {
  const program = await compile(new URL('./simulator-program.ts', import.meta.url));
  const child = start(program, [], { FLEET_DOMAIN: domain, FLEET_ORIGIN: origin });
  const { url } = (await child.next()) as { url: string };
  return url;
}

function none(what: number | string): never {
  throw new Error(`There is no ${typeof what === 'number' ? `process ${what}` : what}.`);
}
