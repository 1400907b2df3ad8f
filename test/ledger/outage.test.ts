import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../../src/errors.js';
import type { Database } from '../../src/ledger/database/database.js';
import { DatabaseConnector } from '../../src/ledger/database/database-connector.js';
import { databaseOutage } from '../../src/ledger/database/database-fault.js';
import type { RouterEventPayload } from '../../src/telemetry/router-event.js';
import { eventually } from '../support/eventually.js';
import { LogRecorder } from '../support/sites/site.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });

/** A database that fails while it is told to, and what is told of it. */
function failingDatabase(timing = { trialMs: 5, calmMs: 50 }) {
  const state = { error: undefined as unknown, ofQueries: undefined as unknown, trials: 0, recoveries: 0 };
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
  const connector = new DatabaseConnector({
    open: async () => db,
    logger: log,
    observer: { emit: (one) => void told.push(one) },
    onRecovered: () => {
      state.recoveries += 1;
    },
    timing,
  });
  return { state, connector, log, told };
}

const tryTo = (connector: DatabaseConnector) => connector.query('select 1').catch((error) => error);

test('an outage is told once at its beginning and once at its end, however many calls fail', async () => {
  const { state, connector, log, told } = failingDatabase();
  connector.requireUp();
  state.error = databaseOutage('The database cannot be reached', refused);
  for (let call = 0; call < 100; call += 1) await tryTo(connector);
  expect(() => connector.requireUp()).toThrow(/ECONNREFUSED/);
  expect(told).toEqual([{ type: 'ledger_unavailable', code: 'ledger_unavailable' }]);
  state.error = undefined;
  await eventually(() => state.recoveries === 1);
  connector.requireUp();
  await eventually(() => told.length === 2);
  expect(told[1]).toEqual({ type: 'ledger_recovered' });
  expect(log.text.match(/express-intents:/g)).toHaveLength(2);
  expect(log.text).toMatch(
    /cannot be reached: connect ECONNREFUSED 10\.0\.0\.7:5432 \(ECONNREFUSED\)\. Start the database/,
  );
  expect(log.text).toMatch(/works again; 100 calls of it had failed/);
  await connector.close();
});

test('one that comes and goes within moments is one outage', async () => {
  const { state, connector, log } = failingDatabase({ trialMs: 1, calmMs: 600_000 });
  for (let time = 1; time <= 5; time += 1) {
    state.error = databaseOutage('The database cannot be reached', refused);
    await tryTo(connector);
    state.error = undefined;
    await eventually(() => state.recoveries === time);
    expect((await tryTo(connector)).rowCount).toBe(0);
  }
  expect(log.text.match(/express-intents:/g)).toHaveLength(1);
  await connector.close();
});

test('what goes on failing beside a trial that works is not tried as fast as it can fail', async () => {
  const { state, connector, log } = failingDatabase({ trialMs: 600_000, calmMs: 600_000 });
  state.ofQueries = databaseOutage('The database failed', refused);
  await tryTo(connector);
  await eventually(() => state.recoveries === 1);
  for (let call = 0; call < 100; call += 1) {
    await tryTo(connector);
    // The database can be written to, so that this process need not be taken out.
    connector.requireUp();
  }
  expect(state).toMatchObject({ trials: 1, recoveries: 1 });
  expect(log.text.match(/express-intents:/g)).toHaveLength(1);
  await connector.close();
});

test('what goes on failing beside a trial that works is tried again, and is one outage', async () => {
  const { state, connector, log } = failingDatabase({ trialMs: 5, calmMs: 600_000 });
  state.ofQueries = databaseOutage('The database failed', refused);
  // As a settlement does that goes on at once.
  await eventually(async () => {
    await tryTo(connector);
    return state.recoveries === 4;
  });
  expect(state.trials).toBe(4);
  expect(log.text.match(/express-intents:/g)).toHaveLength(1);
  await connector.close();
});

test('what befalls one call alone, such as a statement that takes too long, is none', async () => {
  const { state, connector, log } = failingDatabase();
  state.error = new IntentError('ledger_unavailable', 'canceling statement due to statement timeout (57014)');
  await tryTo(connector);
  connector.requireUp();
  expect([state.trials, log.text]).toEqual([0, '']);
});

test('once it is closed nothing is tried any more', async () => {
  const { state, connector } = failingDatabase();
  state.error = databaseOutage('The database cannot be reached', refused);
  await tryTo(connector);
  await connector.close();
  await wait(20);
  const { trials } = state;
  await wait(50);
  expect(state.trials).toBe(trials);
});
