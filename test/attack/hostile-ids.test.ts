import request from 'supertest';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { post } from '../support/sites/post.js';

const unknownId = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';

/** Values from a visitor that an app may pass as an intent id. */
const hostileIds = [
  '\0',
  `${unknownId}\0`,
  '\ud800',
  '',
  'x',
  '%00',
  "' or 1=1 --",
  `${unknownId} `,
  'x'.repeat(100_000),
  ...([undefined, null, 1, {}, [unknownId], { toString: () => '\0' }] as unknown[] as string[]),
];

describe('invalid ids', () => {
  let site: LedgerSite;
  beforeAll(async () => {
    site = await startLedgerSite({
      ledger: { url: await newDatabaseUrl('embedded') },
      onPaid: () => undefined,
      after: (app) =>
        app.get('/thanks/:id', async (req, res) => {
          const intent = await site.router.intents.find(req.params.id);
          res.status(intent ? 200 : 404).end();
        }),
    });
  });

  test('are unknown to the ledger', async () => {
    const { intents } = site.router;
    for (const id of [...hostileIds, unknownId]) {
      const answers = [
        await intents.find(id),
        await intents.history(id),
        await intents.retry(id),
        await intents.recheck(id),
      ];
      expect([id, ...answers]).toEqual([id, undefined, [], false, undefined]);
    }
    expect(site.log.lines).toEqual([]);
  });

  test('do not prevent the settlement of another payment', async () => {
    const { body } = await post(site.origin).send({ mode: 'payment' });
    const id = intentIdOf(body.client_secret);
    await site.simulator.wallet().pay(body.client_secret);
    await Promise.all([...hostileIds, id].map((each) => site.router.intents.recheck(each)));
    await untilState(site, id, 'settled');
    expect(site.log.lines).toEqual([]);
  });

  test('are unknown in the path of a page of the app', async () => {
    for (const id of ['%00', `${unknownId}%00`, '%ED%A0%80', 'x', unknownId]) {
      const { status } = await request(site.origin).get(`/thanks/${id}`);
      expect([id, [400, 404].includes(status)]).toEqual([id, true]);
    }
    expect(site.log.lines).toEqual([]);
  });
});
