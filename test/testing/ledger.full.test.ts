import { existsSync } from 'node:fs';
import { IntentError } from '../../src/errors.js';
import { recordIntents } from '../../src/ledger/intents/record-intent.js';
import { type IntentRouter, intentRouter } from '../../src/router/intent-router.js';
import { createClock } from '../../src/simulator/state/clock.js';
import { advanceTime, type Simulator, startSimulator, temporaryLedger, waitForIntent } from '../../src/testing.js';
import { LogRecorder } from '../support/sites/site.js';

// Tests with a real ledger, which they share.

const minute = 60_000;
/** Longer than the default of five seconds, for a busy machine. */
const patient = { timeoutMs: 30_000 };
const paid: { id: string; late: boolean; attempt: number }[] = [];
let failures = 0;
let simulator: Simulator;
let ledger: Awaited<ReturnType<typeof temporaryLedger>>;
let router: IntentRouter;

beforeAll(async () => {
  simulator = await startSimulator();
  ledger = await temporaryLedger();
  router = intentRouter(
    simulator.siteOptions({
      ledger: { url: ledger.url },
      logger: new LogRecorder(),
      onPaid: ({ id }, { late, attempt }) => {
        paid.push({ id, late, attempt });
        failures -= 1;
        if (failures >= 0) throw new Error('Not now.');
      },
    }),
  );
  await router.ready();
});
afterAll(async () => {
  await router.close();
  await simulator.close();
  await ledger.remove();
  expect(existsSync(ledger.url)).toBe(false);
});

/** Creates an intent and records it, as the site does. */
async function begun(): Promise<{ id: string; clientSecret: string }> {
  const { destination } = simulator.siteOptions();
  const intent = await router.client.paymentIntents.create({ destination, amount: '4.50', currency: 'usd' });
  const money = { amount: '4.50', currency: 'usd', destination };
  const terms = { ...money, description: undefined, login: false, resource: undefined, metadata: {} };
  const times = { watchFirstMs: 60 * minute, watchMs: 30 * 24 * 60 * minute };
  await recordIntents(router.database, [{ id: intent.id, terms, browser: new Uint8Array(32) }], times);
  return intent;
}

test('waitForIntent rechecks a payment that is not due', async () => {
  const { id, clientSecret } = await begun();
  await simulator.wallet().pay(clientSecret);
  expect(await waitForIntent(router, id, 'settled', patient)).toMatchObject({ id, amount: '4.50' });
  expect(paid.at(-1)).toEqual({ id, late: false, attempt: 1 });
});

test('advanceTime makes intents older, so a payment is late', async () => {
  const { id, clientSecret } = await begun();
  await advanceTime(16 * minute, { simulator, router });
  await simulator.wallet().pay(clientSecret);
  await waitForIntent(router, id, 'settled', patient);
  expect(paid.at(-1)).toEqual({ id, late: true, attempt: 1 });
});

test('advanceTime resolves after the due work is done', async () => {
  const { id, clientSecret } = await begun();
  failures = 1;
  await simulator.wallet().pay(clientSecret);
  await waitForIntent(router, id, 'submitted', patient);
  await advanceTime(minute, { simulator, router });
  expect(await router.intents.find(id)).toMatchObject({ state: 'settled' });
  expect(paid.filter((one) => one.id === id).map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test('advanceTime ends the watch of an unpaid intent', async () => {
  const { id } = await begun();
  await advanceTime(31 * 24 * 60 * minute, { simulator, router });
  expect(await router.intents.find(id)).toMatchObject({ state: 'expired' });
});

test('advanceTime moves every time in the ledger except the end of a lease', async () => {
  const { rows: columns } = await router.database.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = 'express_intents'
       and table_name = 'payments' and data_type like 'timestamp%'`,
  );
  const names = columns.map(({ column_name }) => column_name).filter((name) => name !== 'leased_until');
  const { id } = await begun();
  // A valid lease keeps the settlement away. It would correct a due time in the future.
  const later = (name: string): string => (name === 'due_set_at' ? 'now()' : `now() + interval '2 hours'`);
  const set = names.map((name) => `${name} = ${later(name)}`).join(', ');
  await router.database.transaction(async (tx) => {
    await tx.query('alter table express_intents.payments disable trigger user');
    await tx.query(
      `update express_intents.payments set ${set}, leased_until = now() + interval '2 hours' where intent_id = $1`,
      [id],
    );
    await tx.query('alter table express_intents.payments enable trigger user');
  });
  const secondsOf = async (): Promise<Record<string, number>> => {
    const columns = [...names, 'leased_until'].map((name) => `extract(epoch from ${name})::float8 as ${name}`);
    const question = `select ${columns.join(', ')} from express_intents.payments where intent_id = $1`;
    return (await router.database.query<Record<string, number>>(question, [id])).rows[0] ?? {};
  };
  const before = await secondsOf();
  await advanceTime(60 * minute, { simulator, router });
  const after = await secondsOf();
  const moved = Object.keys(before).map((name) => [name, Math.round(Number(before[name]) - Number(after[name]))]);
  expect(moved).toEqual([...names.map((name) => [name, 3600]), ['leased_until', 0]]);
});

test('advanceTime leaves the trigger of the ledger enabled', async () => {
  const { id } = await begun();
  await advanceTime(1, { simulator, router });
  const change = router.database.query(`update express_intents.intents set created_at = now() where id = $1`, [id]);
  await expect(change).rejects.toThrow(/are immutable/);
});

test('advanceTime moves several sites in one call, and their sequencer once', async () => {
  const [first, second] = [await begun(), await begun()];
  const clock = createClock(() => 0);
  const others: number[] = [];
  const other = {
    intents: { recheck: async () => undefined },
    database: {
      query: async () => ({ rows: [], rowCount: 0 }),
      transaction: async () => void others.push(clock.now()) as never,
    },
  };
  await advanceTime(31 * 24 * 60 * minute, { simulator: { clock }, router: [router, other] });
  expect(clock.now()).toBe(31 * 24 * 60 * minute);
  for (const { id } of [first, second]) expect(await router.intents.find(id)).toMatchObject({ state: 'expired' });
  expect(others).toEqual([31 * 24 * 60 * minute]);
});

test('advanceTime without a ledger advances the clock only, and rejects when the ledger fails', async () => {
  const clock = createClock(() => 0);
  const answering = (error: Error) => ({
    intents: { recheck: async () => undefined },
    database: { query: () => Promise.reject(error), transaction: () => Promise.reject(error) },
  });
  await advanceTime(minute, { simulator: { clock } });
  await advanceTime(minute, { simulator: { clock }, router: answering(new IntentError('invalid_configuration')) });
  expect(clock.now()).toBe(2 * minute);
  const failing = advanceTime(minute, {
    simulator: { clock },
    router: answering(new IntentError('ledger_unavailable')),
  });
  await expect(failing).rejects.toMatchObject({ code: 'ledger_unavailable' });
});
