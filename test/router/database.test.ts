import request from 'supertest';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { post } from '../support/sites/post.js';

// test/ledger tests the differences of the two databases.
describe('router.database', () => {
  let site: LedgerSite;
  let inHook: unknown;

  beforeAll(async () => {
    site = await startLedgerSite({
      ledger: { url: await newDatabaseUrl('embedded') },
      onPaid: async (payment, { tx }) => {
        await tx.query('insert into orders (id) values ($1)', [payment.id]);
        inHook = await site.router.database.query('select id from orders').catch((error) => error.code);
      },
    });
    await site.router.database.query('create table orders (id text primary key)');
  });

  test('reads the writes of hooks, and rejects at once inside a hook', async () => {
    const { database } = site.router;
    const { body } = await post(site.origin).send({ mode: 'payment' });
    const id = intentIdOf(body.client_secret);
    await site.simulator.wallet().pay(body.client_secret);
    await request(site.origin).get(`/status/${id}`); // The ledger rechecks the payment at once.
    await untilState(site, id, 'settled');
    expect(await database.query('select id from orders where id = $1', [id])).toEqual({ rows: [{ id }], rowCount: 1 });
    expect(inHook).toBe('internal_error');
  });
});
