import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRelay, type TcpRelay } from '../support/network/tcp-relay.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { type Fleet, startFleet } from './fleet.js';

/** A fleet whose way to the database can be cut, and which is heard. */
export interface OutageFleet extends Fleet {
  readonly relay: TcpRelay;
  /** The name of the database. */
  readonly database: string;
  /** What a process has printed so far; and the lines of it that are the router's. */
  printedBy(index: number): string;
  linesOf(index: number): readonly string[];
}

const recorder = fileURLToPath(new URL('./record-process.mjs', import.meta.url));

/** Its role is no superuser, so that the limits of the database hold for it; and what is committed outlives `kill -9`. */
const setUp = (database: string): string => `
create role shop login;
alter database ${database} owner to shop;
alter schema public owner to shop;
alter table public.fulfilled owner to shop;
alter database ${database} set synchronous_commit = on`;

export async function startOutageFleet(size: number): Promise<OutageFleet> {
  const folder = temporaryFolder();
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS ?? ''} --import ${recorder}`;
  process.env.FLEET_RECORD = folder;
  let relay: TcpRelay | undefined;
  let database = '';
  const fleet = await startFleet(size, {
    router: { routes: { health: '/healthz' }, limit: 1_000_000 },
    reach: async (server, name) => {
      database = name;
      await server.run(name, setUp(name));
      relay = await startRelay(server.socketPath);
      return `postgres://shop@127.0.0.1:${relay.port}/${name}`;
    },
  });
  if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = NODE_OPTIONS;
  const printedBy = (index: number): string => {
    const file = path.join(folder, `process ${index + 1}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  return Object.assign(fleet, {
    relay: relay as TcpRelay,
    database,
    printedBy,
    linesOf: (index: number) =>
      printedBy(index)
        .split('\n')
        .filter((line) => line.startsWith('express-intents:')),
  });
}
