// Counts the statements and round trips that settle one payment in Postgres, with an empty `onPaid`. Used by run.mjs.
import { setTimeout as wait } from 'node:timers/promises';
import { runBackground, startFleet, startUpstream, stopFleet } from './fleet-measure.mjs';
import { startRelay } from './postgres-relay.mjs';

/** One after the other. Payments that are settled together could share statements. */
const perSecond = 10;
const longestMs = 60_000;

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
    let settled = 0;
    const settle = async () => {
      await runBackground(fleet, 'settle', { ms, perSecond });
      settled += payments;
      await untilSettled(fleet.client, settled);
    };
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

async function untilSettled(client, count) {
  const query = `select count(*)::int as settled from express_intents.intents where state = 'settled'`;
  for (const endMs = performance.now() + longestMs; ; await wait(100)) {
    const { settled } = (await client.query(query)).rows[0];
    if (settled >= count) return;
    if (performance.now() > endMs) throw new Error(`${settled} of ${count} payments were settled.`);
  }
}
