import request from 'supertest';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { post } from '../support/sites/post.js';
import { startSiteWithSequencer } from '../support/sites/site.js';

// What differs between the two databases is tested where they are.
describe('router.database', () => {
  let site: LedgerSite;
  let inHook: unknown;

  beforeAll(async () => {
    site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl('embedded'),
      onPaid: async (payment, { tx }) => {
        await tx.query('insert into orders (id) values ($1)', [payment.id]);
        inHook = await site.router.database.query('select id from orders').catch((error) => error.code);
      },
    });
    await site.router.database.query('create table orders (id text primary key)');
  });

  test('is where the hooks write to, and refuses at once whom it would wait for: a hook itself', async () => {
    const { database } = site.router;
    const { body } = await post(site.origin).send({ mode: 'payment' });
    const id = intentIdOf(body.client_secret);
    await site.sequencer.wallet().pay(body.client_secret);
    await request(site.origin).get(`/status/${id}`); // and so the ledger looks at once
    await untilState(site, id, 'settled');
    expect(await database.query('select id from orders where id = $1', [id])).toEqual({ rows: [{ id }], rowCount: 1 });
    expect(inHook).toBe('internal_error');
  });

  test('has transactions, which leave nothing behind when they fail', async () => {
    const { database } = site.router;
    const failing = database.transaction(async (tx) => {
      await tx.query("insert into orders (id) values ('lost')");
      throw new Error('No.');
    });
    await expect(failing).rejects.toThrow('No.');
    await database.transaction((tx) => tx.query("insert into orders (id) values ('kept')"));
    const { rows } = await database.query("select id from orders where id in ('lost', 'kept')");
    expect(rows).toEqual([{ id: 'kept' }]);
  });
});

test('router.database says what is missing where there is no ledger', async () => {
  const { router } = await startSiteWithSequencer();
  for (const asked of [router.database.query('select 1'), router.database.transaction(async () => undefined)]) {
    await expect(asked).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('INTENT_DATABASE_URL='),
    });
  }
});
