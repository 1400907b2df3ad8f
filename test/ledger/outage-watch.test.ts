import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../src/errors.js';
import type { Database } from '../../src/ledger/database/database.js';
import { outage } from '../../src/ledger/database/database-fault.js';
import { OutageWatch } from '../../src/ledger/database/outage-watch.js';
import type { RouterEventPayload } from '../../src/telemetry/router-event.js';
import { eventually } from '../support/eventually.js';
import { LogRecorder } from '../support/sites/site.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });

/** A database that fails while it is told to, and what is told of it. */
function failingDatabase(timing = { trialMs: 5, calmMs: 50 }) {
  const state = { error: undefined as unknown, ofQueries: undefined as unknown, trials: 0, overs: 0 };
  const ask = async () => {
    if (state.error) throw state.error;
    return { rows: [], rowCount: 0 };
  };
  const db: Database = {
    isShared: true,
    query: async () => {
      if (state.ofQueries) throw state.ofQueries;
      return ask();
    },
    transaction: async (work) => {
      state.trials += 1;
      await ask();
      return work({ query: ask, client: {} });
    },
    close: async () => undefined,
  };
  const log = new LogRecorder();
  const told: RouterEventPayload[] = [];
  const watch = new OutageWatch(db, {
    logger: log,
    observer: { emit: (one) => void told.push(one) },
    onOver: () => {
      state.overs += 1;
    },
    timing,
  });
  return { state, watch, log, told };
}

const tryTo = (watch: OutageWatch) => watch.query('select 1').catch((error) => error);

test('an outage is told once at its beginning and once at its end, however many calls fail', async () => {
  const { state, watch, log, told } = failingDatabase();
  watch.requireNone();
  state.error = outage('The database cannot be reached', refused);
  for (let call = 0; call < 100; call += 1) await tryTo(watch);
  expect(() => watch.requireNone()).toThrow(/ECONNREFUSED/);
  expect(told).toEqual([{ type: 'ledger_unavailable', code: 'ledger_unavailable' }]);
  state.error = undefined;
  await eventually(() => state.overs === 1);
  watch.requireNone();
  await eventually(() => told.length === 2);
  expect(told[1]).toEqual({ type: 'ledger_back' });
  expect(log.text.match(/express-intents:/g)).toHaveLength(2);
  expect(log.text).toMatch(
    /cannot be reached: connect ECONNREFUSED 10\.0\.0\.7:5432 \(ECONNREFUSED\)\. Start the database/,
  );
  expect(log.text).toMatch(/works again; 100 calls of it had failed/);
  await watch.close();
});

test('one that comes and goes within moments is one outage', async () => {
  const { state, watch, log } = failingDatabase({ trialMs: 1, calmMs: 600_000 });
  for (let time = 1; time <= 5; time += 1) {
    state.error = outage('The database cannot be reached', refused);
    await tryTo(watch);
    state.error = undefined;
    await eventually(() => state.overs === time);
    expect((await tryTo(watch)).rowCount).toBe(0);
  }
  expect(log.text.match(/express-intents:/g)).toHaveLength(1);
  await watch.close();
});

test('what goes on failing beside a trial that works is not tried as fast as it can fail', async () => {
  const { state, watch, log } = failingDatabase({ trialMs: 600_000, calmMs: 600_000 });
  state.ofQueries = outage('The database did not do what it was asked', refused);
  await tryTo(watch);
  await eventually(() => state.overs === 1);
  for (let call = 0; call < 100; call += 1) {
    await tryTo(watch);
    // The database can be written to, so that this process need not be taken out.
    watch.requireNone();
  }
  expect(state).toMatchObject({ trials: 1, overs: 1 });
  expect(log.text.match(/express-intents:/g)).toHaveLength(1);
  await watch.close();
});

test('what goes on failing beside a trial that works is tried again, and is one outage', async () => {
  const { state, watch, log } = failingDatabase({ trialMs: 5, calmMs: 600_000 });
  state.ofQueries = outage('The database did not do what it was asked', refused);
  // As a settlement does that goes on at once.
  await eventually(async () => {
    await tryTo(watch);
    return state.overs === 4;
  });
  expect(state.trials).toBe(4);
  expect(log.text.match(/express-intents:/g)).toHaveLength(1);
  await watch.close();
});

test('what befalls one call alone, such as a statement that takes too long, is none', async () => {
  const { state, watch, log } = failingDatabase();
  state.error = new IntentError('ledger_unavailable', 'canceling statement due to statement timeout (57014)');
  await tryTo(watch);
  watch.requireNone();
  expect([state.trials, log.text]).toEqual([0, '']);
});

test('once it is closed nothing is tried any more', async () => {
  const { state, watch } = failingDatabase();
  state.error = outage('The database cannot be reached', refused);
  await tryTo(watch);
  await watch.close();
  await wait(20);
  const { trials } = state;
  await wait(50);
  expect(state.trials).toBe(trials);
});
