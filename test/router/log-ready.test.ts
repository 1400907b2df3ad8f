import { routerLogger } from '../../src/http/logger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { logReady } from '../../src/router/log-ready.js';
import { parseRouterOptions } from '../../src/router/options.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { LogRecorder, startSite, verifierSecret } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const mode = process.env.NODE_ENV;
afterEach(() => {
  process.env.NODE_ENV = mode;
});
const sequencerUrl = 'https://service.example/base';
const ready = ({ lines }: LogRecorder) => lines.filter((line) => line.includes('ready.'));

test('in production, one line says what the router serves, from which ledger and sequencer', async () => {
  process.env.NODE_ENV = 'production';
  const databaseUrl = await newDatabaseUrl('embedded');
  const payment = () => ({ amount: 1, currency: 'usd' });
  const { log, router } = await startSite({
    sequencer: { url: sequencerUrl },
    ledger: { url: databaseUrl, allowFolderInProduction: true },
    payment,
  });
  await router.ready();
  await eventually(() => expect(ready(log)).toHaveLength(1));
  expect(ready(log)[0]).toContain(
    `ready. Serves: payments, logins for shop.example. Ledger: folder ${databaseUrl}. Sequencer: service.example.`,
  );
});

test('the line names the host of a Postgres, without user, password and database', async () => {
  process.env.NODE_ENV = 'production';
  const log = new LogRecorder();
  const databaseUrl = `postgres://ada:${canaryOf('password')}@db.internal:5433/orders`;
  const settings = parseRouterOptions({
    sequencer: { url: sequencerUrl },
    ledger: { url: databaseUrl },
    login: { verifierSecret, domain: 'shop.example' },
    logger: log,
  });
  logReady(settings, { ready: async () => undefined } as Ledger, routerLogger(log));
  await eventually(() => expect(ready(log)).toHaveLength(1));
  expect(ready(log)[0]).toContain(
    'Serves: logins for shop.example. Ledger: Postgres at db.internal:5433. Sequencer: service.example.',
  );
});

test('no line is logged while the ledger is not open', async () => {
  process.env.NODE_ENV = 'production';
  const log = new LogRecorder();
  const databaseUrl = `postgres://shop:${canaryOf('password')}@127.0.0.1:1/shop`;
  const router = intentRouter({
    sequencer: { url: sequencerUrl },
    ledger: { url: databaseUrl },
    login: { verifierSecret, domain: 'shop.example' },
    logger: log,
  });
  await router.ready().catch(() => undefined);
  await router.close();
  expect(ready(log)).toEqual([]);
});

test.each(['development', 'test'])('in %s no line is logged', async (other) => {
  process.env.NODE_ENV = other;
  const { log, router } = await startSite({ sequencer: { url: sequencerUrl, transport: countingTransport() } });
  await router.ready();
  await new Promise(setImmediate);
  expect(ready(log)).toEqual([]);
});
