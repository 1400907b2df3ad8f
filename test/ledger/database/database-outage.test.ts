import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import { DatabaseConnector } from '../../../src/ledger/database/database-connector.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import type { RouterEventPayload } from '../../../src/telemetry/router-event.js';
import { eventually } from '../../support/eventually.js';
import { LogRecorder } from '../../support/sites/site.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });

/** A database that fails while the test sets an error, with its log and events. */
function failingDatabase(timing = { probeMs: 5, stableMs: 50 }) {
  const state = { error: undefined as unknown, queryError: undefined as unknown, probes: 0, recoveries: 0 };
  const respond = async () => {
    if (state.error) throw state.error;
    return { rows: [], rowCount: 0 };
  };
  const db: Database = {
    isShared: true,
    query: async () => {
      if (state.queryError) throw state.queryError;
      return respond();
    },
    transaction: async (work) => {
      state.probes += 1;
      await respond();
      return work({ query: respond, client: {} });
    },
    close: async () => undefined,
  };
  const log = new LogRecorder();
  const emitted: RouterEventPayload[] = [];
  const connector = new DatabaseConnector({
    open: async () => db,
    logger: log,
    observer: { emit: (one) => void emitted.push(one) },
    onRecovered: () => {
      state.recoveries += 1;
    },
    timing,
  });
  return { state, connector, log, emitted };
}

const queryOrError = (connector: DatabaseConnector) => connector.query('select 1').catch((error) => error);

test('an outage emits one event at its start and one at its end, however many calls fail', async () => {
  const { state, connector, log, emitted } = failingDatabase();
  connector.requireUp();
  state.error = databaseOutage('The database cannot be reached', refused);
  for (let call = 0; call < 100; call += 1) await queryOrError(connector);
  expect(() => connector.requireUp()).toThrow(/ECONNREFUSED/);
  expect(emitted).toEqual([{ type: 'ledger_unavailable', code: 'ledger_unavailable' }]);
  state.error = undefined;
  await eventually(() => state.recoveries === 1);
  connector.requireUp();
  await eventually(() => emitted.length === 2);
  expect(emitted[1]).toEqual({ type: 'ledger_recovered' });
  expect(log.text.match(/express-intents:/g)).toHaveLength(2);
  expect(log.text).toMatch(
    /cannot be reached: connect ECONNREFUSED 10\.0\.0\.7:5432 \(ECONNREFUSED\)\. Start the database/,
  );
  expect(log.text).toMatch(/works again after \d+\.\d s\. Failed database calls: 100/);
  await connector.close();
});

test('an error that concerns one call, such as a statement timeout, is no outage', async () => {
  const { state, connector, log } = failingDatabase();
  state.error = new IntentError('ledger_unavailable', 'canceling statement due to statement timeout (57014)');
  await queryOrError(connector);
  connector.requireUp();
  expect([state.probes, log.text]).toEqual([0, '']);
});
