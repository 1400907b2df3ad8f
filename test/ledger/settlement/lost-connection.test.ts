import type { Database } from '../../../src/ledger/database/database.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import type { PaymentHookContext, PaymentHooks } from '../../../src/ledger/payment.js';
import type { Observer } from '../../../src/telemetry/router-event.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { startRelay, type TcpRelay } from '../../support/network/tcp-relay.js';
import { hourMs, SettlementFixture, useDatabase } from './settlement-fixture.js';

// The connection of a hook is lost, and the database answers again at once, on another connection.

describe('a hook that loses its database connection', () => {
  const database = useDatabase('postgres');

  /** Resolves when the server has ended the connection of the transaction. */
  async function endConnection({ tx }: PaymentHookContext): Promise<void> {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    await database.db.query('select pg_terminate_backend($1::int, 60000)', [rows[0]?.pid]);
  }

  async function payAndWork(hooks: PaymentHooks, hookAttempts: number) {
    const ledger = new SettlementFixture(database, { hooks, settings: { hookAttempts } });
    const id = await ledger.buy();
    return { ledger, id };
  }

  const effects = async (): Promise<readonly unknown[]> => (await database.db.query('select id from effects')).rows;

  it.each<[string, (context: PaymentHookContext) => Promise<unknown>]>([
    ['before a query of tx', ({ tx }) => tx.query('select 1')],
    ['before it succeeds', async () => undefined],
  ])('%s is called again, and no attempt is counted', async (_when, next) => {
    const attempts: number[] = [];
    const onPaid: PaymentHooks['onPaid'] = async ({ id }, context) => {
      attempts.push(context.attempt);
      await context.tx.query('insert into effects values ($1)', [id]);
      if (attempts.length > 1) return;
      await endConnection(context);
      await next(context);
    };
    const { ledger, id } = await payAndWork({ onPaid }, 1);
    expect(await ledger.find(id)).toMatchObject({
      ...{ state: 'submitted', attempts: 0 },
      lastError: expect.stringContaining('The database failed'),
    });
    await ledger.after(5_000);
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0, lastError: undefined });
    expect(attempts).toEqual([1, 1]);
    expect(await effects()).toEqual([{ id }]);
    expect(ledger.log.lines).toEqual([
      expect.stringMatching(`the database failed during onPaid for payment ${id}.* again in about 1 s`),
    ]);
  });

  it('because its session was reset is called again, and no attempt is counted', async () => {
    const attempts: number[] = [];
    const onPaid: PaymentHooks['onPaid'] = async ({ id }, { tx, attempt }) => {
      attempts.push(attempt);
      await tx.query('insert into effects values ($1)', [id]);
      if (attempts.length === 2) await tx.query(`do $$ begin execute 'deallocate all'; end $$`);
    };
    // The connection has prepared the statement that settles a payment.
    const { ledger } = await payAndWork({ onPaid }, 1);
    const id = await ledger.buy();
    expect(await ledger.find(id)).toMatchObject({
      ...{ state: 'submitted', attempts: 0 },
      lastError: expect.stringContaining('does not exist (26000)'),
    });
    await ledger.after(5_000);
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
    expect(attempts).toEqual([1, 1, 1]);
    expect(await effects()).toHaveLength(2);
  });

  it('each time becomes a dead letter, and is not exclusive', async () => {
    const attempts: number[] = [];
    const onPaid: PaymentHooks['onPaid'] = async (_payment, context) => {
      attempts.push(context.attempt);
      await endConnection(context);
    };
    const { ledger, id } = await payAndWork({ onPaid }, 2);
    await ledger.after(5_000);
    expect(attempts).toEqual([1, 1]);
    expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 1 });
    const { rows } = await database.db.query('select lane, due_at > now() as waits from express_intents.payments');
    expect(rows).toEqual([{ lane: 'retry', waits: true }]);
    await ledger.after(hourMs);
    expect(attempts).toEqual([1, 1, 2]);
    expect(await ledger.find(id)).toMatchObject({
      ...{ state: 'dead', attempts: 2, deadLetterHook: 'onPaid' },
      lastError: expect.stringContaining('The database failed'),
    });
  });

  describe('during the commit', () => {
    const events: string[] = [];
    const observer = { emit: ({ type }: { type: string }) => void events.push(type) } as unknown as Observer;
    let relay: TcpRelay;
    let db: Database;

    beforeAll(async () => {
      relay = await startRelay((await startPostgres()).socketPath);
      const { pathname } = new URL(database.url.replace('@/', '@localhost/'));
      db = await openPostgres({ url: `postgres://postgres@127.0.0.1:${relay.port}${pathname}`, connectMs: 60_000 });
    });
    beforeEach(() => void events.splice(0));
    afterAll(() => db.close());

    const insert: PaymentHooks['onPaid'] = async ({ id }, { tx }) => {
      await tx.query('insert into effects values ($1)', [id]);
    };

    it.each([
      ['after Postgres has executed it', 'after', { state: 'settled', lastError: undefined }],
      ['before Postgres has executed it', 'before', { state: 'submitted', lastError: expect.anything() }],
    ] as const)('%s is called until it is committed once, and reported', async (_when, moment, expected) => {
      const ledger = new SettlementFixture(database, { hooks: { onPaid: insert }, db, observer });
      relay.cutAt('; commit', moment);
      const id = await ledger.buy();
      expect(await ledger.find(id)).toMatchObject({ ...expected, attempts: 0 });
      await ledger.after(5_000);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
      expect(await effects()).toEqual([{ id }]);
      const failures = moment === 'after' ? [] : ['hook_failed'];
      expect(events).toEqual(['intent_submitted', ...failures, 'hook_completed', 'payment_settled']);
    });

    it('after Postgres has executed it, and that remains unreachable, is not called again', async () => {
      const ledger = new SettlementFixture(database, { hooks: { onPaid: insert }, db });
      relay.cutAt('; commit', 'after', true);
      const id = await ledger.begin();
      await ledger.settlement.idle();
      relay.restore();
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
      await ledger.after(5_000);
      expect(await effects()).toEqual([{ id }]);
    });

    it('of the dead letter reports it once', async () => {
      const letters: string[] = [];
      const hooks: PaymentHooks = {
        onPaid: () => Promise.reject(new Error('no')),
        onDeadLetter: ({ id }) => void letters.push(id),
      };
      const ledger = new SettlementFixture(database, { hooks, settings: { hookAttempts: 1 }, db, observer });
      relay.cutAt(`state = 'dead'`, 'after');
      const id = await ledger.buy();
      expect(await ledger.find(id)).toMatchObject({ state: 'dead' });
      expect(letters).toEqual([id]);
      expect(events).toEqual(['intent_submitted', 'hook_failed', 'dead_letter', 'hook_completed']);
    });

    it('of the submission passes on its time', async () => {
      const times: Date[] = [];
      const hooks: PaymentHooks = { onPaid: ({ submittedAt }) => void times.push(submittedAt) };
      const ledger = new SettlementFixture(database, { hooks, db, observer });
      relay.cutAt(`state = 'submitted'`, 'after');
      const id = await ledger.buy();
      expect(times).toEqual([(await ledger.find(id)).submittedAt]);
      expect(events).toEqual(['intent_submitted', 'hook_completed', 'payment_settled']);
    });
  });
});
