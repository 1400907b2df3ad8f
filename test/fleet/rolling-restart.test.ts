import { setTimeout as wait } from 'node:timers/promises';
import { type Fleet, startFleet } from './fleet.js';
import { Shoppers } from './shoppers.js';

// All processes of a site are ended and started anew, one after the other, while customers come. ROUNDS for more than
// one round, RATE for more than a few customers a second.

const rounds = Number(process.env.ROUNDS ?? 1);
const rate = Number(process.env.RATE ?? 20);

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(3);
}, 120_000);

test(
  `a rolling restart of three processes, ${rounds} times, at ${rate} customers a second, is seen by nobody`,
  async () => {
    const shoppers = new Shoppers(fleet.origin, fleet.sequencer.wallet('Ada'));
    for (let count = 0; count < 20; count += 1) await shoppers.listen();
    const coming = shoppers.come(rate);
    for (let turn = 0; turn < 3 * rounds; turn += 1) {
      await wait(300);
      await fleet.replace(turn % 3, 'SIGTERM');
    }
    await wait(5_000);
    await shoppers.leave();
    await coming;

    expect(shoppers.faults).toEqual([]);
    expect([...fleet.balancer.failures].filter(([status]) => status !== 503)).toEqual([]);
    // Each stream that ended is back in time; each has ended with its process at least once.
    expect(shoppers.gapsMs.length).toBeGreaterThanOrEqual(20 * rounds);
    expect(Math.max(...shoppers.gapsMs)).toBeLessThan(5_000);

    const { created, paid } = shoppers;
    expect(paid.length).toBeGreaterThan(rate / 2);
    const settled = `select id from express_intents.intents where id = any($1) and state = 'settled'`;
    for (const endMs = performance.now() + 20_000; (await fleet.sql(settled, [paid])).length < paid.length; ) {
      if (performance.now() > endMs) throw new Error('Payments were lost.');
      await wait(100);
    }
    const known = await fleet.sql('select from express_intents.intents where id = any($1)', [created]);
    expect(known.length).toBe(created.length);
    const fulfilled = await fleet.sql('select intent_id from public.fulfilled');
    expect(fulfilled.map(({ intent_id: id }) => id).sort()).toEqual([...paid].sort());
    expect(shoppers.logins).toBeGreaterThan(0);
    const { repeated, logins, gapsMs } = shoppers;
    process.stderr.write(
      `${created.length} created, ${paid.length} paid, ${logins} logged in, ${repeated} sent again after 503, ` +
        `${gapsMs.length} streams came back, the last after ${Math.round(Math.max(...gapsMs))} ms\n`,
    );
  },
  60_000 + rounds * 60_000,
);
