import { type Sequencer, startSequencer } from '../../src/emulator/index.js';
import { generateKey } from '../../src/index.js';
import { type ChildProgram, compile, start } from '../support/child-program.js';
import { type PostgresServer, startPostgres } from '../support/postgres-server.js';
import { type Balancer, startBalancer } from './balancer.js';

/** A site that runs as several processes with one Postgres, behind a load balancer. */
export interface Fleet {
  readonly sequencer: Sequencer;
  readonly server: PostgresServer;
  readonly balancer: Balancer;
  /** Where all are reached, each request another. */
  readonly origin: string;
  /** Where each is reached by itself. */
  readonly origins: readonly string[];
  readonly processes: readonly ChildProgram[];
  sql(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Ends one as `kill -9` or as an orderly restart does, and starts another in its place. */
  replace(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

export const domain = 'example.com';
const sequencers: Sequencer[] = [];

export interface FleetOptions {
  /** Of each site's router, as JSON has them; and `limit` and `sessions`, see site-program.ts. */
  readonly router?: object;
  /** The URL by which the sites reach the database, where something is to stand in between. */
  readonly reach?: (server: PostgresServer, database: string) => Promise<string>;
}

export async function startFleet(size: number, { router = {}, reach }: FleetOptions = {}): Promise<Fleet> {
  const [server, program, balancer, sequencer] = await Promise.all([
    startPostgres(),
    compile(new URL('./site-program.ts', import.meta.url)),
    startBalancer(),
    startSequencer(),
  ]);
  sequencers.push(sequencer);
  sequencer.setLocalDomain(domain, balancer.origin);
  const database = await server.createDatabase();
  const sql = (text: string, values?: readonly unknown[]) => server.run(database, text, values);
  await sql('create table public.fulfilled (intent_id text, by text)');
  const env = {
    INTENT_SEQUENCER_URL: sequencer.url,
    INTENT_VERIFIER_SECRET: generateKey().secret,
    INTENT_DOMAIN: domain,
    INTENT_ORIGIN: balancer.origin,
    INTENT_DESTINATION: generateKey().publicKey,
    FLEET_DATABASE: reach ? await reach(server, database) : server.url(database),
    FLEET_OPTIONS: JSON.stringify(router),
  };
  let started = 0;
  const launch = async () => {
    started += 1;
    const child = start(program, [], { ...env, FLEET_NAME: `process ${started}` });
    const { port } = (await child.next()) as { port: number };
    return { child, port };
  };
  const running = await Promise.all(Array.from({ length: size }, launch));
  const balance = (): void => balancer.use(running.map(({ port }) => port));
  balance();
  return {
    ...{ sequencer, server, balancer, sql },
    origin: balancer.origin,
    get origins() {
      return running.map(({ port }) => `http://127.0.0.1:${port}`);
    },
    get processes() {
      return running.map(({ child }) => child);
    },
    replace: async (index, signal) => {
      const old = running[index];
      if (!old) throw new Error(`There is no process ${index}.`);
      balancer.use(running.filter((one) => one !== old).map(({ port }) => port));
      old.child.process.kill(signal);
      await old.child.ended;
      running[index] = await launch();
      balance();
    },
  };
}

afterAll(async () => {
  for (const sequencer of sequencers.splice(0)) await sequencer.close();
});
