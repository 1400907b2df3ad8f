// Counts the statements and round trips that settle one payment in Postgres, with an empty `onPaid`. Used by run.mjs.
import { setTimeout as wait } from 'node:timers/promises';
import { runBackground, startFleet, startUpstream, stopFleet } from './fleet-measure.mjs';
import { startRelay } from './postgres-relay.mjs';

/** One after the other. Payments that are settled together could share statements. */
const perSecond = 10;

/** @returns for one payment, without the statements of an idle process */
export async function countSettlement(payments) {
  const upstream = startUpstream();
  let relay;
  const fleet = await startFleet(1, upstream, {
    through: async (databaseUrl) => {
      relay = await startRelay(databaseUrl);
      return relay.url;
    },
  });
  const ms = (payments / perSecond) * 1_000;
  const counting = async (run) => {
    const [before, startedAtMs] = [relay.counts(), performance.now()];
    await run();
    const { statements, roundTrips } = relay.counts();
    return {
      seconds: (performance.now() - startedAtMs) / 1_000,
      statements: statements - before.statements,
      roundTrips: roundTrips - before.roundTrips,
    };
  };
  try {
    const settle = () => runBackground(fleet, 'settle', { ms, perSecond });
    await settle();
    const idle = await counting(() => wait(ms));
    const busy = await counting(settle);
    const each = (key) => (busy[key] - (idle[key] / idle.seconds) * busy.seconds) / payments;
    return { statements: each('statements'), roundTrips: each('roundTrips') };
  } finally {
    await stopFleet(fleet);
    relay.stop();
    upstream.stop();
  }
}
