import request from 'supertest';
import type { AcceptedIntent } from '../../src/http/hooks.js';
import { parseClientSecret } from '../../src/intents/payload.js';
import { formatBase58 } from '../../src/keys/base58.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { destination, orderIn, type SiteOptions, startSite, startSiteWithSimulator } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';
import { createIntent, newBrowser } from './support/browsers.js';
import { sentTerms } from './support/sent-terms.js';

/** The account of the attacker. */
const attackerAccount = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const expectedTerms = { kind: 'payment', amount: 48, currency: 'usd', destination };

/** A shop with one article. `sent` returns the terms of its intents. */
async function startShop(options: SiteOptions = {}) {
  const transport = recordingTransport();
  const payment = () => ({ amount: '48.00', currency: 'usd', metadata: { order: 'kettle' } });
  const records: AcceptedIntent[] = [];
  const onCreated = (record: AcceptedIntent): void => void records.push(record);
  const site = await startSite({ sequencer: { transport }, payment, onCreated }, options);
  const post = (path = '/intent') => request(site.origin).post(path).set('Sec-Fetch-Site', 'same-origin').type('json');
  return { ...site, post, records, sent: () => sentTerms(transport.calls) };
}

describe('amount, currency, destination and metadata from the browser', () => {
  const manipulations: [name: string, value: unknown][] = [
    ['amount', '0.05'],
    ['amount', null],
    ['currency', 'kin'],
    ['destination', attackerAccount],
    ['metadata', { order: 'sugar cube' }],
    ['login', true],
    ['Amount', '0.05'],
    ['amount\u0000', '0.05'],
    ['\uff41mount', '0.05'],
  ];

  test.each(manipulations)('are rejected without a created intent: %j: %j in the body', async (name, value) => {
    const { post, sent, records } = await startShop();
    for (const body of [
      { order: 'kettle', [name]: value },
      { mode: 'payment', [name]: value },
    ]) {
      const answer = await post().send(body);
      expect(answer.status).toBe(400);
      expect(['terms_not_accepted', 'unknown_field']).toContain(answer.body.code);
    }
    expect([sent(), records]).toEqual([[], []]);
  });

  // An order with a NUL is rejected.
  const storable = manipulations.filter(([name]) => !name.includes('\0'));
  test.each(storable)('change nothing in the order, query, cookie or headers: %j: %j', async (name, value) => {
    const { post, sent, records } = await startShop();
    const text = encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value));
    const key = encodeURIComponent(name);
    await post(`/intent?${key}=${text}&order=sugar`).send({ order: { [name]: value } });
    await post('/intent')
      .set('Cookie', `${key}=${text}`)
      .send({ order: [{ [name]: value }] });
    await post('/intent')
      .set(`X-${key}`, text)
      .send(`{"order":{"__proto__":{${JSON.stringify(name)}:"0.05"}}}`);
    expect(sent()).toEqual([expectedTerms, expectedTerms, expectedTerms]);
    for (const { id: _id, ...record } of records) {
      const terms = { amount: '48.00', currency: 'usd', destination, login: false };
      expect(record).toEqual({ kind: 'payment', ...terms, metadata: { order: 'kettle' } });
    }
  });

  test('are rejected as duplicate and escaped fields', async () => {
    const { post, sent } = await startShop();
    for (const body of [
      '{"order":1,"amount":"48.00","amount":"0.05"}',
      '{"order":1,"\\u0061mount":"0.05"}',
      '{"order":1,"amount":"0.05","order":2}',
      '{"__proto__":{"amount":"0.05"},"order":1}',
      '\ufeff{"order":1,"amount":"0.05"}',
    ]) {
      expect((await post().send(body)).status).toBe(400);
    }
    expect(sent()).toEqual([]);
  });

  test('are rejected with clientAmount, except for an amount within its range', async () => {
    const { post, sent } = await startShop({
      payment: undefined,
      clientAmount: { min: '1.00', max: '100.00', currency: 'usd' },
    });
    const rejected = [
      ...[
        '0.99',
        '100.01',
        '0',
        '-1',
        '-0',
        '',
        ' ',
        '1e1',
        '0x10',
        '1,000',
        '1.005',
        '+5',
        ' 5',
        '5 ',
        '5\n',
        '٥',
        '５',
      ],
      ...['Infinity', 'NaN', '9'.repeat(400), '1.', '.5', '1__0', '1n', '00000000000000000000000000000101'],
      ...[0.99, 100.01, 0, -1, 1e21, 1e-7, 5.001, 1.0000000001, Number.MAX_SAFE_INTEGER, null, true, [5], ['5'], {}],
    ];
    for (const amount of rejected) {
      const answer = await post().send({ amount });
      expect([amount, answer.status]).toEqual([amount, 400]);
    }
    for (const body of [{ amount: 5, currency: 'kin' }, { amount: 5, destination: attackerAccount }, {}]) {
      expect((await post().send(body)).status).toBe(400);
    }
    expect(sent()).toEqual([]);
    await post().send({ amount: '100.00' }).expect(201);
    expect(sent()).toEqual([{ ...expectedTerms, amount: 100 }]);
  });
});

describe('intent swapped for a cheaper one', () => {
  const prices: Record<string, string> = { kettle: '48.00', sugar: '0.05' };

  async function startRealShop() {
    const records = new Map<string, AcceptedIntent>();
    const site = await startSiteWithSimulator({
      payment: (req) => ({
        amount: prices[orderIn(req)] ?? '999',
        currency: 'usd',
        metadata: { order: orderIn(req) },
      }),
      onCreated: (record) => void records.set(record.id, record),
    });
    const isSubmitted = async (id: string): Promise<boolean> =>
      (await site.router.client.paymentIntents.getStatus(id)).intentSubmitted;
    return { ...site, records, isSubmitted };
  }

  test('leaves the expensive order unpaid, because each intent has recorded terms', async () => {
    const { simulator, records, isSubmitted, ...site } = await startRealShop();
    const attacker = newBrowser(site);
    const kettle = await createIntent(attacker, { order: 'kettle' });
    const sugar = await createIntent(attacker, { order: 'sugar' });
    await simulator.wallet().pay(sugar.secret);
    expect([await isSubmitted(sugar.id), await isSubmitted(kettle.id)]).toEqual([true, false]);
    expect(records.get(sugar.id)).toMatchObject({ amount: '0.05', metadata: { order: 'sugar' } });
    expect(records.get(kettle.id)).toMatchObject({ amount: '48.00', metadata: { order: 'kettle' } });
  });

  test('is unknown: a code with another amount is the code of another intent', async () => {
    const { simulator, isSubmitted, ...site } = await startRealShop();
    const kettle = await createIntent(newBrowser(site), { order: 'kettle' });
    const payload = Buffer.from(parseClientSecret(kettle.secret));
    payload.writeUInt8(5, 2);
    payload.fill(0, 3, 9);
    const cheap = formatBase58(payload);
    expect(intentIdOf(cheap)).not.toBe(kettle.id);
    await expect(simulator.wallet().pay(cheap)).rejects.toMatchObject({ code: 'intent_not_found' });
    expect(await isSubmitted(kettle.id)).toBe(false);
  });
});
