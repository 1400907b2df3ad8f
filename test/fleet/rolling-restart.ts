import { setTimeout as wait } from 'node:timers/promises';
import { compile, start } from '../support/runner/child-program.js';
import type { Fleet } from './fleet.js';
import type { Visits } from './shoppers.js';

export interface Restarts {
  /** The number of processes to restart, one after the other. */
  readonly turns: number;
  /** Every nth process is killed instead of terminated. Default: none. */
  readonly killEvery?: number;
  /** Customers per second. */
  readonly rate: number;
  /** The delay from the start of one process to the end of the next, in milliseconds: a new process is slow. */
  readonly pauseMs: number;
}

/** The effects that are visible from outside. */
export interface RollingRestart extends Visits {
  /** 5xx responses through the balancer, by status. */
  readonly failures: Readonly<Record<number, number>>;
  /** The number of fulfillments of each payment, by id; each must be 1. */
  readonly fulfilled: readonly string[];
  /** The number of created payments that the ledger knows. */
  readonly known: number;
}

const listeners = 20;
/** Ten times the lease of half a minute, after which a payment that a killed process had claimed settles. */
const settleMs = 300_000;

/** Restarts the processes of a fleet one after the other while customers arrive. */
export function rollingRestart(fleet: Fleet, { turns, killEvery, rate, pauseMs }: Restarts): Promise<RollingRestart> {
  const size = fleet.processes.length;
  return whileCustomersArrive(fleet, { rate }, async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      await wait(pauseMs);
      const isKilled = killEvery !== undefined && turn % killEvery === killEvery - 1;
      await fleet.replace(turn % size, isKilled ? 'SIGKILL' : 'SIGTERM');
    }
  });
}

/** Runs `restart` while customers arrive, of whom one of `payEvery` pays, and waits until each payment has settled. */
export async function whileCustomersArrive(
  fleet: Fleet,
  { rate, payEvery = 10 }: { readonly rate: number; readonly payEvery?: number },
  restart: () => Promise<void>,
): Promise<RollingRestart> {
  const before = await fleet.balancer.failures();
  const customers = start(await compile(new URL('./shoppers-program.ts', import.meta.url)), [], {
    ...{ FLEET_ORIGIN: fleet.origin, FLEET_SEQUENCER: fleet.simulator.url },
    ...{ LISTENERS: String(listeners), RATE: String(rate), PAY_EVERY: String(payEvery) },
  });
  await customers.next();
  await restart();
  const visits = (await customers.ask({})) as Visits;
  const failures = difference(await fleet.balancer.failures(), before);
  const { created, paid } = visits;
  await settled(fleet, paid);
  const fulfilled = await fleet.sql('select intent_id from public.fulfilled where intent_id = any($1)', [created]);
  const known = await fleet.sql('select from express_intents.intents where id = any($1)', [created]);
  const ids = fulfilled.map(({ intent_id: id }) => String(id));
  return { ...visits, failures, fulfilled: ids, known: known.length };
}

/** What holds for every kind of restart, if each process is restarted. */
export function expectNothingLost(seen: RollingRestart): void {
  const { faults, created, paid, fulfilled, known, gapsMs, lostStreams, logins } = seen;
  expect(faults).toEqual([]);
  expect(known).toBe(created.length);
  expect([...fulfilled].sort()).toEqual([...paid].sort());
  expect(paid.length).toBeGreaterThan(0);
  expect(logins).toBeGreaterThan(0);
  // Each stream ended with its process at least once, and was reopened.
  expect(gapsMs.length).toBeGreaterThanOrEqual(listeners);
  expect(lostStreams).toBe(0);
}

async function settled(fleet: Fleet, paid: readonly string[]): Promise<void> {
  const count = `select from express_intents.payments where intent_id = any($1) and state = 'settled'`;
  const endMs = performance.now() + settleMs;
  while ((await fleet.sql(count, [paid])).length < paid.length) {
    if (performance.now() > endMs) throw new Error('Payments were lost.');
    await wait(100);
  }
}

type Failures = RollingRestart['failures'];

function difference(after: Failures, before: Failures): Failures {
  const all = Object.entries(after).map(([status, count]) => [status, count - (before[Number(status)] ?? 0)]);
  return Object.fromEntries(all.filter(([, count]) => count !== 0));
}
