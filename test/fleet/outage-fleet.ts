import { startRelay, type TcpRelay } from '../support/network/tcp-relay.js';
import { type Fleet, startFleet } from './fleet.js';

/** A fleet whose connection to the database can be cut, and whose logs are recorded. */
export interface OutageFleet extends Fleet {
  readonly relay: TcpRelay;
  /** The name of the database. */
  readonly database: string;
  /** The log lines of the router of a process so far. */
  linesOf(index: number): readonly string[];
}

/** Its role is not a superuser, so the limits of the database apply to it, and commits survive `kill -9`. */
const setUp = (database: string): string => `
create role shop login;
alter database ${database} owner to shop;
alter schema public owner to shop;
alter table public.fulfilled owner to shop;
alter database ${database} set synchronous_commit = on`;

export async function startOutageFleet(size: number): Promise<OutageFleet> {
  let relay: TcpRelay | undefined;
  let database = '';
  const fleet = await startFleet(size, {
    router: { routes: { health: '/healthz' }, limit: 1_000_000, storeTimeoutMs: 5_000 },
    reach: async (server, name) => {
      database = name;
      await server.run(name, setUp(name));
      relay = await startRelay(server.socketPath);
      return `postgres://shop@127.0.0.1:${relay.port}/${name}`;
    },
  });
  return Object.assign(fleet, {
    relay: relay as TcpRelay,
    database,
    linesOf: (index: number) =>
      fleet
        .printed(index + 1)
        .split('\n')
        .filter((line) => line.startsWith('express-intents:')),
  });
}
