import { nginxPath } from '../support/network/nginx.js';
import type { Balancer } from './balancer.js';
import { type Fleet, startFleet } from './fleet.js';
import { startNginxBalancer } from './nginx-balancer.js';
import { listeners, type RollingRestart, rollingRestart } from './rolling-restart.js';

// All processes of a site are restarted, one after the other, while customers come. RATE for more than a few customers a second,
// ROUNDS for more than one round, and for both balancers, once without one that is killed.

const rounds = Number(process.env.ROUNDS ?? 1);
const rate = Number(process.env.RATE ?? 20);
const isLong = rounds > 1;
const pauseMs = isLong ? 1_500 : 300;
const timeoutMs = 90_000 + rounds * 60_000;

function report(what: string, seen: RollingRestart): void {
  const { created, paid, logins, lostLogins, repeated, failures, gapsMs, givenUp, cpuMs } = seen;
  const streams = `${gapsMs.length} streams came back, the last after ${Math.round(Math.max(...gapsMs))} ms, ${givenUp} given up`;
  const again = `sent again ${JSON.stringify(repeated)}, through the balancer ${JSON.stringify(failures)}`;
  process.stderr.write(
    `${what}: ${created.length} created, ${paid.length} paid, ${logins} logged in, ${lostLogins} logins lost; ${again}; ` +
      `${streams}; customers took ${cpuMs} ms\n`,
  );
}

/** What holds whatever happens to a process. */
function holds({ faults, created, paid, fulfilled, known, gapsMs, logins }: RollingRestart, backMs: number): void {
  expect(faults).toEqual([]);
  expect(known).toBe(created.length);
  expect([...fulfilled].sort()).toEqual([...paid].sort());
  expect(paid.length).toBeGreaterThan(0);
  expect(logins).toBeGreaterThan(0);
  // Each stream has ended with its process at least once, and was back in time.
  expect(gapsMs.length).toBeGreaterThanOrEqual(listeners);
  expect(Math.max(...gapsMs)).toBeLessThan(backMs);
}

describe.each<[string, (() => Promise<Balancer>) | undefined, boolean]>([
  ['a balancer that is told', undefined, isLong || !nginxPath],
  ['nginx', startNginxBalancer, nginxPath !== undefined],
])('behind %s', (name, balance, isTried) => {
  // nginx ends connections of visitors when it is told of its configuration, and some of them are just about to use one.
  const passing = balance ? ['503 closing', 'no answer'] : ['503 closing'];
  let fleet: Fleet;
  beforeAll(async () => {
    if (isTried) fleet = await startFleet(3, { balance });
  }, 120_000);

  (isTried ? test : test.skip)(
    `a rolling restart, ${rounds} times, at ${rate} customers a second, is seen by nobody`,
    async () => {
      const seen = await rollingRestart(fleet, { turns: 3 * rounds, rate, pauseMs });
      report(`${name}, ended`, seen);
      holds(seen, 5_000);
      expect(Object.keys(seen.failures).filter((status) => status !== '503')).toEqual([]);
      expect(Object.keys(seen.repeated).filter((what) => !passing.includes(what))).toEqual([]);
      expect([seen.lostLogins, seen.givenUp]).toEqual([0, 0]);
    },
    timeoutMs,
  );

  (isTried ? test : test.skip)(
    `a rolling restart, ${rounds} times, at ${rate} customers a second, where some are killed, loses and doubles nothing`,
    async () => {
      const turns = 3 * rounds;
      const killEvery = isLong ? 5 : turns;
      const seen = await rollingRestart(fleet, { turns, killEvery, rate, pauseMs });
      report(`${name}, ended or killed`, seen);
      // Whoever is cut off was not told when to come back, and may come to the next one that ends.
      holds(seen, 10_000);
      // What it was answering when it died, the customer has sent again; or nginx, for the customer.
      const again = Object.keys(seen.repeated).filter((what) => !passing.includes(what));
      expect(again.filter((what) => balance || !what.startsWith('502'))).toEqual([]);
      // Whoever was being told of a login in that moment.
      expect(seen.lostLogins).toBeLessThanOrEqual(Math.floor(turns / killEvery));
    },
    timeoutMs,
  );
});
