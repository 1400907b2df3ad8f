import { jest } from '@jest/globals';
import request from 'supertest';
import { SequencerError } from '../../../src/errors.js';
import { type HealthParts, routerHealth } from '../../../src/http/operations/health.js';
import type { LedgerReport } from '../../../src/ledger/ledger.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { insertPaymentRows } from '../../support/databases/ledger-rows.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';
import { bytes, faultSequencer } from '../../support/sequencers/fault-sequencer.js';
import { startLedgerSite } from '../../support/sites/ledger-site.js';
import { type SiteOptions, startSite } from '../../support/sites/site.js';
import { pending, StatusTransport } from '../../support/transports/status-transport.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const down = new SequencerError('sequencer_unreachable', 'The sequencer at https://10.0.0.7 cannot be reached.');
const hanging = () => new Promise<never>(() => undefined);

async function startHealthSite(options: SiteOptions = {}) {
  const transport = new StatusTransport();
  transport.answer = pending;
  const routes = { health: '/healthz' };
  const site = await startSite({ sequencer: { url: 'https://sequencer.example', transport }, routes }, options);
  return { ...site, transport, show: () => request(site.origin).get('/healthz') };
}

describe('router.health() without a ledger', () => {
  test('is ok, probes the service once for concurrent calls, and not at all after a recent response', async () => {
    const first = await startHealthSite();
    const all = await Promise.all(Array.from({ length: 20 }, () => first.router.health()));
    for (const { status } of all) expect(status).toBe('ok');
    expect(all[0]).toEqual({
      status: 'ok',
      checks: {
        process: { status: 'ok' },
        sequencer: { status: 'ok', isSimulated: false, answeredMsAgo: expect.any(Number) },
        streams: { status: 'ok', open: 0, limit: 5_000 },
      },
    });
    await first.router.health();
    expect(first.transport.callCount).toBe(1);

    const second = await startHealthSite();
    await request(second.origin).get(`/status/${id}`).expect(200);
    await second.router.health();
    expect(second.transport.callCount).toBe(1);
  });

  test('is degraded while the service is down, with the reason but without the address of the service', async () => {
    // The circuit stays open.
    jest.spyOn(performance, 'now').mockReturnValue(Math.floor(performance.now()));
    const { router, transport, show, origin } = await startHealthSite();
    transport.answerWith(down);
    expect((await router.health()).checks.sequencer).toEqual({
      status: 'degraded',
      reason: 'sequencer_unreachable',
      isSimulated: false,
    });
    const { body, text, headers } = await show().expect(200);
    expect(body).toEqual({
      status: 'degraded',
      checks: {
        process: { status: 'ok' },
        sequencer: { status: 'degraded', reason: 'sequencer_unreachable' },
        streams: { status: 'ok' },
      },
    });
    expect(text).not.toContain('10.0.0.7');
    expect([headers['content-type'], headers['cache-control']]).toEqual([
      'application/json; charset=utf-8',
      'no-store',
    ]);
    for (let n = 0; n < 5; n += 1) await request(origin).get(`/status/${id}`);
    const { callCount } = transport;
    expect((await router.health()).checks.sequencer.reason).toBe('sequencer_unavailable');
    expect(transport.callCount).toBe(callCount);
  });

  test('does not take an empty response for a sign of life', async () => {
    const sequencer = await faultSequencer(bytes(new Uint8Array()));
    const site = await startSite({ sequencer: { url: sequencer.url } });
    // Every proto3 sequencer answers so for the absent intent of the probe.
    expect((await site.router.health()).checks.sequencer).toEqual({ status: 'ok', isSimulated: false });
    sequencer.answerWith(bytes(Uint8Array.of(0x08, 0x00)));
    await request(site.origin).get(`/status/${id}`).expect(200);
    expect((await site.router.health()).checks.sequencer).toMatchObject({ answeredMsAgo: expect.any(Number) });
  });

  test('resolves before the call to a hanging service ends', async () => {
    const { router, transport } = await startHealthSite({ sequencer: { timeoutMs: 1_600_000 } });
    transport.answerWith('nothing');
    const { status, checks } = await router.health();
    expect([status, checks.sequencer.reason]).toEqual(['degraded', 'sequencer_timeout']);
  });

  test('is down as soon as the router is closed', async () => {
    const { router, show, transport } = await startHealthSite();
    const closed = router.close();
    expect(await router.health()).toMatchObject({ status: 'down', checks: { process: { reason: 'closing' } } });
    await closed;
    const { body } = await show().expect(503);
    expect(body).toMatchObject({ status: 'down', checks: { process: { status: 'down', reason: 'closing' } } });
    expect(transport.callCount).toBe(0);
  });

  test('has a route only if one is configured, and its requests cause no setup warning', async () => {
    const without = await startHealthSite({ routes: {} });
    await without.show().expect(404);
    const site = await startHealthSite({
      before: (app) => app.use((req, _res, next) => next(void Object.assign(req, { baseUrl: '/under' }))),
    });
    await site.show().expect(200);
    expect(site.log.text).toBe('');
    await request(site.origin).get('/anything').expect(404);
    expect(site.log.text).toContain('mounted under');
  });
});

describe('router.health() with a ledger in Postgres', () => {
  test('reports due payments and dead letters, is down while the database is down, and recovers', async () => {
    const databaseUrl = await newDatabaseUrl('postgres');
    const server = await startPostgres();
    const [, name = ''] = /(\w+)\?host=/.exec(databaseUrl) ?? [];
    const options = { ledger: { url: databaseUrl }, onPaid: () => undefined, routes: { health: '/healthz' } };
    const { router, origin } = await startLedgerSite(options);
    /** Polls the health until it matches. */
    const untilHealth = (expected: object): Promise<void> =>
      eventually(async () => expect(await router.health()).toMatchObject(expected));
    const working = {
      status: 'ok',
      due: 0,
      oldestDueMs: 0,
      deadLetters: 0,
      firstCallWaitMs: 0,
      lastPollMsAgo: expect.any(Number),
    };
    await untilHealth({ status: 'ok', checks: { ledger: { status: 'ok' }, settlement: working } });

    await server.run(name, insertPaymentRows(`select 'dead' || n as id from generate_series(1, 3) n`, 'dead', 'null'));
    await server.run(name, insertPaymentRows(`select 'held' as id`, 'created', `now() + interval '1 hour'`));
    await server.run(
      name,
      `update express_intents.payments set due_at = now() - interval '1 hour', leased_until = now() + interval '1 hour'
       where intent_id = 'held'`,
    );
    const settlement = { reason: 'dead_letters', due: 0, deadLetters: 3 };
    await untilHealth({ status: 'degraded', checks: { settlement } });
    await request(origin).get('/healthz').expect(200);

    await server.kill();
    await untilHealth({ status: 'down' });
    const { body, text } = await request(origin).get('/healthz').expect(503);
    expect(body.checks).toMatchObject({
      ledger: { status: 'down', reason: 'ledger_unavailable' },
      settlement: { status: 'degraded', reason: 'ledger' },
    });
    expect(text).not.toContain('postgres');
    await server.start();
    await untilHealth({ status: 'degraded', checks: { settlement } });
  });

  test('is down from the start when the database cannot be opened', async () => {
    const { router } = await startHealthSite({ ledger: { url: `postgres:///shop?host=${temporaryFolder()}` } });
    expect(await router.health()).toMatchObject({ status: 'down', checks: { ledger: { status: 'down' } } });
  });
});

describe('routerHealth', () => {
  const fine: LedgerReport = { due: 2, oldestDueMs: 10, deadLetters: 0, firstCallWaitMs: 0, lastPollMsAgo: 500 };
  const timing = { timeoutMs: 10, ledgerTtlMs: 0, ledgerDownAfterMs: 100 };

  /** The health of a router with only the parts that are read. */
  function healthOf(
    inspect: () => Promise<LedgerReport>,
    open = 0,
    service = { hasFailingOperation: false, answeredMsAgo: 1 },
    getStatus: () => Promise<unknown> = hanging,
  ) {
    const parts = {
      config: { limits: { streams: { perProcess: 10 } } },
      observed: { client: { paymentIntents: { getStatus } }, serviceState: () => service },
      ledger: { inspect },
      running: { closesConnections: false },
      connectionLimiter: { open },
      ...{ isSimulated: false, timing },
    };
    return routerHealth(parts as unknown as HealthParts);
  }

  test.each<[string, Partial<LedgerReport>, string, string | undefined]>([
    ['no problem', {}, 'ok', undefined],
    ['dead letters', { deadLetters: 1 }, 'degraded', 'dead_letters'],
    ['overdue payments', { oldestDueMs: 60_001, deadLetters: 1 }, 'degraded', 'behind'],
    ['no recent poll', { lastPollMsAgo: 30_001, oldestDueMs: 60_001 }, 'degraded', 'stalled'],
  ])('reports the settlement with %s', async (_name, report, status, reason) => {
    const health = await healthOf(async () => ({ ...fine, ...report }))();
    expect(health.status).toBe(status);
    expect(health.checks.settlement).toEqual({ status, ...fine, ...report, ...(reason && { reason }) });
  });

  test('reports a database as degraded until it has not answered for ledgerDownAfterMs, also after a long pause', async () => {
    let nowMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    let inspect: () => Promise<LedgerReport> = async () => fine;
    const health = healthOf(() => inspect());
    expect((await health()).status).toBe('ok');
    inspect = hanging;
    nowMs = 10_000;
    expect((await health()).checks.ledger).toEqual({ status: 'degraded', reason: 'slow' });
    nowMs += timing.ledgerDownAfterMs;
    expect((await health()).checks.ledger).toEqual({ status: 'degraded', reason: 'slow' });
    nowMs += 1;
    expect(await health()).toMatchObject({
      status: 'down',
      checks: { ledger: { status: 'down', reason: 'ledger_unavailable' } },
    });
  });

  test('reports an open circuit as degraded, and probes the service if it has not responded for a while', async () => {
    const getStatus = jest.fn(async () => undefined);
    const service = { hasFailingOperation: true, answeredMsAgo: 14_000 };
    const health = healthOf(async () => fine, 0, service, getStatus);
    const degraded = { status: 'degraded', reason: 'sequencer_unavailable' };
    expect((await health()).checks.sequencer).toMatchObject(degraded);
    expect(getStatus).not.toHaveBeenCalled();
    service.answeredMsAgo = 15_000;
    expect((await health()).checks.sequencer).toMatchObject(degraded);
    expect(getStatus).toHaveBeenCalledTimes(1);
  });

  test('reports a process with all streams in use as degraded', async () => {
    const { status, checks } = await healthOf(async () => fine, 10)();
    expect([status, checks.streams]).toEqual(['degraded', { status: 'degraded', reason: 'full', open: 10, limit: 10 }]);
  });
});
