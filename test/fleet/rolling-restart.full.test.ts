import { type Fleet, startFleet } from './fleet.js';
import { expectNothingLost, type RollingRestart, rollingRestart } from './rolling-restart.js';

// All processes of a site are restarted one after the other while customers arrive. RATE sets the customers per second,
// ROUNDS the number of rounds; more than one round prints a report. BALANCER=nginx puts nginx in front of them.

const rounds = Number(process.env.ROUNDS ?? 1);
const rate = Number(process.env.RATE ?? 20);
const isLong = rounds > 1;
const pauseMs = isLong ? 1_500 : 300;
const timeoutMs = 300_000 + rounds * 60_000;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(3);
});

function report(what: string, seen: RollingRestart): void {
  if (!isLong) return;
  const { created, paid, logins, lostLogins, repeated, failures, gapsMs, givenUp, cpuMs } = seen;
  const streams = `${gapsMs.length} streams came back, the last after ${Math.round(Math.max(...gapsMs))} ms, ${givenUp} given up`;
  const again = `sent again ${JSON.stringify(repeated)}, through the balancer ${JSON.stringify(failures)}`;
  process.stderr.write(
    `${what}: ${created.length} created, ${paid.length} paid, ${logins} logged in, ${lostLogins} logins lost; ${again}; ` +
      `${streams}; customers took ${cpuMs} ms\n`,
  );
}

/** The retries that a customer may see in a restart without a kill: nginx closes idle connections when it reloads. */
const passing = (): string[] => (fleet.balancer.detectsFailures ? ['503 closing', 'no answer'] : ['503 closing']);

test(
  `${rounds} rolling restarts at ${rate} customers a second cause no visible error`,
  async () => {
    const seen = await rollingRestart(fleet, { turns: 3 * rounds, rate, pauseMs });
    report('SIGTERM', seen);
    expectNothingLost(seen);
    expect(Object.keys(seen.repeated).filter((what) => !passing().includes(what))).toEqual([]);
    expect(Object.keys(seen.failures).filter((status) => status !== '503')).toEqual([]);
    expect([seen.lostLogins, seen.givenUp]).toEqual([0, 0]);
  },
  timeoutMs,
);

test(
  `${rounds} rolling restarts at ${rate} customers a second, with killed processes, lose and double nothing`,
  async () => {
    const turns = 3 * rounds;
    const killEvery = isLong ? 5 : turns;
    const seen = await rollingRestart(fleet, { turns, killEvery, rate, pauseMs });
    report('SIGTERM or SIGKILL', seen);
    expectNothingLost(seen);
    // The customer repeats a request that a killed process was answering; behind nginx, nginx does.
    const again = Object.keys(seen.repeated).filter((what) => !passing().includes(what));
    expect(again.filter((what) => fleet.balancer.detectsFailures || !what.startsWith('502'))).toEqual([]);
    // A login whose answer was lost with the killed process: one request at most, since a login is completed once.
    expect(seen.lostLogins).toBeLessThanOrEqual(Math.floor(turns / killEvery));
  },
  timeoutMs,
);
