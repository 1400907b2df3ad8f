import { randomBytes } from 'node:crypto';
import { DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import bs58 from 'bs58';
import { Instruments, metrics } from '../../src/telemetry/metrics.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { TestTelemetry, unregister } from '../support/sites/open-telemetry.js';
import { orderIn, startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';
import { EventRecorder } from './event-recorder.js';

const hourMs = 3_600_000;

/** A new SDK for each test, registered before the router is created or passed to it. */
const start = () => new TestTelemetry();
afterEach(unregister);

const pointsOf = (data: MetricData | undefined) =>
  (data?.dataPoints ?? []).map(({ value, attributes }) => [
    typeof value === 'object' ? (value as { count?: number }).count : value,
    attributes,
  ]);

test('a payment is measured from the request to the settlement, with names, units and attributes', async () => {
  const telemetry = start().register();
  const recorder = new EventRecorder();
  const site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('postgres'), hookLimits: { maxAttempts: 1 } },
    onPaid: ({ metadata }) => {
      if (metadata.order === 'broken') throw new Error('No.');
    },
    payment: (req) => ({ amount: '4.50', currency: 'usd', metadata: { order: orderIn(req) ?? 'tea' } }),
    onEvent: recorder.onEvent,
    timing: { watchFirstMs: hourMs, reversalFirstMs: hourMs, roundMs: hourMs },
  });
  const browser = new Browser(site.origin);
  const buy = async (order: string) => {
    const { body } = await browser.send('POST', '/intent', { order });
    const id = intentIdOf(String(body.client_secret));
    await site.simulator.wallet().pay(String(body.client_secret));
    return id;
  };
  const [paid, broken, waiting] = [await buy('tea'), await buy('broken'), await buy('tea')];
  await browser.send('GET', `/status/${paid}`);
  await untilState(site, paid, 'settled');
  await browser.send('GET', `/status/${broken}`);
  await untilState(site, broken, 'dead');
  await browser.send('POST', '/session', { id: paid });
  // Events and metrics follow the commit.
  await recorder.first('payment_settled', paid);
  await recorder.first('dead_letter', broken);
  // A process that lacks a recorded hook claims no payment, so this one stays due.
  await site.router.database.query(
    `with lacked as (insert into express_intents.required_hooks (name) values ('onReversed'))
     update express_intents.payments set due_at = now() where intent_id = $1`,
    [waiting],
  );

  const collected = await telemetry.metrics();
  for (const [name, { descriptor }] of collected) {
    const { unit, description } = metrics[name] ?? {};
    expect(descriptor).toMatchObject({ unit, description });
  }
  const kind = { 'express_intents.kind': 'payment' };
  expect(pointsOf(collected.get('express_intents.intents.created'))).toEqual([[3, kind]]);
  expect(pointsOf(collected.get('express_intents.intents.submitted'))).toEqual([
    [2, { ...kind, 'express_intents.source': 'status' }],
  ]);
  expect(pointsOf(collected.get('express_intents.payments.settled'))).toEqual([[1, { 'express_intents.late': false }]]);
  expect(pointsOf(collected.get('express_intents.settlement.lag'))).toEqual([[1, {}]]);
  expect(pointsOf(collected.get('express_intents.dead_letters'))).toEqual([[1, { 'express_intents.hook': 'onPaid' }]]);
  expect(pointsOf(collected.get('express_intents.hook.duration'))).toEqual([
    [1, { 'express_intents.hook': 'onPaid', 'express_intents.outcome': 'ok' }],
    [1, { 'express_intents.hook': 'onPaid', 'express_intents.outcome': 'failed' }],
  ]);
  expect(pointsOf(collected.get('express_intents.logins.failed'))).toEqual([[1, { 'error.type': 'intent_not_found' }]]);
  expect(pointsOf(collected.get('express_intents.ledger.due'))).toEqual([[1, {}]]);
  expect(pointsOf(collected.get('express_intents.ledger.dead_letters'))).toEqual([[1, {}]]);
  expect(pointsOf(collected.get('express_intents.upstream.duration'))).toContainEqual([
    3,
    {
      'express_intents.operation': 'Intents.createIntent',
      'express_intents.transport': 'custom',
      'express_intents.outcome': 'ok',
    },
  ]);
  const lag = collected.get('express_intents.settlement.lag');
  expect(lag?.dataPointType).toBe(DataPointType.HISTOGRAM);
  // The unit is seconds.
  const { lagMs } = await recorder.first('payment_settled', paid);
  expect(lag?.dataPoints[0]?.value).toMatchObject({ sum: lagMs / 1_000 });
  await telemetry.lookForSecrets();
});

test('the ledger is read at each collection until the router is closed', async () => {
  const telemetry = start();
  let asked = 0;
  const instruments = new Instruments(telemetry.meterProvider.getMeter('express-intents'), async () => {
    asked += 1;
    if (asked === 1) throw new Error('The ledger cannot be reached.');
    return { due: 7, oldestDueMs: 1_500, deadLetters: 1 };
  });
  expect((await telemetry.metrics()).get('express_intents.ledger.due')).toBeUndefined();
  const collected = await telemetry.metrics();
  const gauges = ['due', 'oldest_due', 'dead_letters'].map((name) =>
    pointsOf(collected.get(`express_intents.ledger.${name}`)),
  );
  expect(gauges).toEqual([[[7, {}]], [[1.5, {}]], [[1, {}]]]);
  instruments.close();
  await telemetry.metrics();
  expect(asked).toBe(2);
});

test('two hundred intents create no more series than ten', async () => {
  const sdk = start();
  const { origin } = await startSite({
    sequencer: { transport: countingTransport() },
    payment: () => ({ amount: '4.50', currency: 'usd' }),
    telemetry: { tracerProvider: sdk.tracerProvider, meterProvider: sdk.meterProvider },
    limits: { requests: false },
  });
  const create = async (count: number) => {
    const browser = new Browser(origin);
    for (let batch = 0; batch < count; batch += 10) {
      const requests = Array.from({ length: 10 }, async () => {
        await browser.send('POST', '/intent', {});
        await browser.send('GET', `/status/${bs58.encode(randomBytes(32))}`);
      });
      await Promise.all(requests);
    }
    const collected = await sdk.metrics();
    return [...collected].map(([name, { dataPoints }]) => [name, dataPoints.length]);
  };
  const ofTen = await create(10);
  expect(ofTen.length).toBeGreaterThan(2);
  expect(await create(200)).toEqual(ofTen);
});

test('an SDK that is registered after the router is created is used, with the gauges of the ledger', async () => {
  const site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('postgres') },
    timing: { watchFirstMs: hourMs },
  });
  const browser = new Browser(site.origin);
  await browser.send('POST', '/intent', {});
  const telemetry = start().register();
  telemetry.reset();
  const before = await telemetry.metrics();
  await browser.send('POST', '/intent', {});
  const collected = await telemetry.metrics();
  const counts = [before, collected].map((one) => pointsOf(one.get('express_intents.intents.created')));
  expect(Number(counts[1]?.[0]?.[0]) - Number(counts[0]?.[0]?.[0] ?? 0)).toBe(1);
  expect(pointsOf(collected.get('express_intents.ledger.due'))).toEqual([[0, {}]]);
  await telemetry.named('Intents/createIntent');
});

test('with telemetry: false an SDK receives nothing', async () => {
  const telemetry = start().register();
  const { origin } = await startSite({ sequencer: { transport: countingTransport() }, telemetry: false });
  await new Browser(origin).send('POST', '/intent', { mode: 'login' });
  expect(telemetry.spans).toEqual([]);
  expect((await telemetry.metrics()).size).toBe(0);
});

test('an SDK that always throws changes no response', async () => {
  const fails = () => {
    throw new Error('The exporter is on fire.');
  };
  const span = new Proxy({}, { get: () => fails });
  for (const startSpan of [fails, () => span]) {
    const { origin, log } = await startSite({
      sequencer: { transport: countingTransport() },
      telemetry: {
        tracerProvider: { getTracer: () => ({ startSpan }) },
        meterProvider: { getMeter: () => new Proxy({}, { get: () => () => ({ add: fails, record: fails }) }) },
      },
    });
    const { status } = await new Browser(origin).send('POST', '/intent', { mode: 'login' });
    expect(status).toBe(201);
    expect(log.text).toBe('');
  }
});

test('providers that throw are logged once, and change nothing else', async () => {
  const fails = () => {
    throw new Error('The provider is on fire.');
  };
  const { origin, log } = await startSite({
    sequencer: { transport: countingTransport() },
    telemetry: { tracerProvider: { getTracer: fails } },
  });
  for (let request = 0; request < 2; request += 1) {
    expect((await new Browser(origin).send('POST', '/intent', { mode: 'login' })).status).toBe(201);
  }
  expect(log.lines).toEqual([
    expect.stringMatching(/^warn express-intents: OpenTelemetry failed, so telemetry is off\..*on fire/),
  ]);
});
