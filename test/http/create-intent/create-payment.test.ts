import { once } from 'node:events';
import bs58 from 'bs58';
import type { CreatePaymentOptions } from '../../../src/http/create-intent/create-payment.js';
import type { SitePaymentTerms } from '../../../src/http/hooks.js';
import { formatBase58 } from '../../../src/keys/base58.js';
import type { Payment } from '../../../src/ledger/payment.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../../support/sites/ledger-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { destination, startSiteWithSimulator, verifierSecret } from '../../support/sites/site.js';

const terms: SitePaymentTerms = {
  amount: '120.00',
  currency: 'eur',
  description: 'Invoice 42',
  metadata: { invoice: 42 },
};
const idempotencyKey = 'invoice-42';
const newVerifierSecret = formatBase58(Uint8Array.from({ length: 32 }, (_, index) => index + 1));
const [firstSecret, secondSecret] = ['a'.repeat(32), 'b'.repeat(32)];

describe.each(kinds)('router.createPayment with a ledger in %s', (kind) => {
  let site: LedgerSite;
  const paid: Payment[] = [];
  const created: unknown[] = [];
  const events: string[] = [];
  beforeAll(async () => {
    site = await startLedgerSite({
      ledger: { url: await newDatabaseUrl(kind) },
      onPaid: (payment) => void paid.push(payment),
      onCreated: (intent) => void created.push(intent),
      onEvent: ({ type }) => void events.push(type),
    });
  });
  const create = (changes: object = {}, options?: CreatePaymentOptions) =>
    site.router.createPayment({ ...terms, destination, ...changes }, options);

  test('creates a payment that the wallet can pay, and that onPaid receives', async () => {
    const { id, clientSecret, walletLink } = await create();
    expect(id).toBe(intentIdOf(clientSecret));
    expect(walletLink).toBe(`https://wallet.example/open#${clientSecret}`);
    const recorded = { ...terms, destination, login: false, resource: undefined };
    expect(await site.router.intents.find(id)).toMatchObject({ kind: 'payment', state: 'created', ...recorded });
    const wallet = site.simulator.wallet();
    expect(await wallet.scan(clientSecret)).toMatchObject({ amount: '120.00', currency: 'eur', destination });
    await wallet.pay(clientSecret);
    await site.router.intents.recheck(id);
    await untilState(site, id, 'settled');
    expect(paid.at(-1)).toMatchObject({ id, ...terms });
    // The event is emitted; the hook is for browsers.
    expect([events.includes('intent_created'), created]).toEqual([true, []]);
  });

  test('records a destination in Base64 as its Base58 form, and as the same terms', async () => {
    const base64 = Buffer.from(bs58.decode(destination)).toString('base64');
    const key = { idempotencyKey: 'invoice-in-base64' };
    const metadata = { invoice: 64 };
    const { id } = await create({ metadata, destination: base64 }, key);
    expect(await site.router.intents.find(id)).toMatchObject({ destination });
    expect(await create({ metadata, destination }, key)).toMatchObject({ id });
  });

  test('creates one payment for each idempotency key, also in concurrent calls', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => create({}, { idempotencyKey })));
    expect(others).toEqual(others.map(() => first));
    expect(await create({}, { idempotencyKey })).toEqual(first);
    const { intents } = await site.router.intents.list({ metadata: { invoice: 42 }, state: 'created' });
    expect(intents.map(({ id }) => id)).toEqual([first?.id]);
    expect((await create({}, { idempotencyKey: 'another' })).id).not.toBe(first?.id);
    await site.simulator.wallet().pay(first?.clientSecret ?? '');
    await site.router.intents.recheck(first?.id ?? '');
    await untilState(site, first?.id ?? '', 'settled');
    expect(await create({}, { idempotencyKey })).toEqual(first);
  });

  test.each([
    ['amount', { amount: '120.01' }],
    ['metadata', { metadata: { invoice: 43 } }],
  ])('rejects the same key with another %s', async (_name, changes) => {
    const key = { idempotencyKey: 'once' };
    await create({}, key);
    await expect(create(changes, key)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('creates no second payment in a retry after a failure', async () => {
    const key = { idempotencyKey: 'retried' };
    for (const moment of ['before', 'after'] as const) {
      site.faults.failOnce('confirm', moment);
      await expect(create({ metadata: { retried: true } }, key)).rejects.toMatchObject({ code: 'ledger_unavailable' });
    }
    const { id, clientSecret } = await create({ metadata: { retried: true } }, key);
    const { intents } = await site.router.intents.list({ metadata: { retried: true } });
    expect(intents.map((intent) => intent.id)).toEqual([id]);
    await site.simulator.wallet().pay(clientSecret);
    await site.router.intents.recheck(id);
    await untilState(site, id, 'settled');
  });

  test('gives no browser access to the payment', async () => {
    const { id } = await create({ login: true }, { idempotencyKey: 'private' });
    const browser = new Browser(site.origin);
    await browser.send('POST', '/intent', { mode: 'login' });
    expect((await browser.send('POST', '/session', { id })).body.code).toBe('intent_not_found');
    const status = await browser.send('GET', `/status/${id}`);
    expect(Object.keys(status.body)).toEqual(['exists', 'code_scanned', 'intent_submitted']);
    const cookies = [...browser.cookies].map(([name, value]) => `Cookie: ${name}=${value}`);
    const stream = new RawStream(site.origin, `/intent/${id}/events`, cookies);
    await stream.has('event: status');
    expect(stream.body).not.toContain('Invoice');
    const headers = { 'Idempotency-Key': 'private' };
    const { body } = await browser.send('POST', '/intent', { order: 1 }, headers);
    expect(intentIdOf(String(body.client_secret))).not.toBe(id);
  });
});

describe('router.createPayment', () => {
  test('returns the same payment from another process, also after a rotation of INTENT_SECRET', async () => {
    const databaseUrl = await newDatabaseUrl('postgres');
    const first = await startLedgerSite({ ledger: { url: databaseUrl }, secret: firstSecret });
    const second = await startLedgerSite({
      ledger: { url: databaseUrl },
      secret: `${secondSecret}, ${firstSecret}`,
      runningSimulator: first.simulator,
    });
    const stranger = await startLedgerSite({
      ledger: { url: databaseUrl },
      secret: secondSecret,
      runningSimulator: first.simulator,
    });
    const of = ({ router }: LedgerSite) => router.createPayment({ ...terms, destination }, { idempotencyKey });
    const payment = await of(first);
    expect(await of(second)).toEqual(payment);
    await expect(of(stranger)).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/new INTENT_SECRET .* Otherwise the ledger was changed/),
    });
    const { rows } = await first.router.database.query(
      'select to_jsonb(i)::text as row from express_intents.intents i',
    );
    expect(JSON.stringify(rows)).not.toContain(payment.clientSecret);
  });

  /** A payment whose creation the first site could not record, and a second site with the next verifier key. */
  async function rotateAfterLostCreation() {
    const databaseUrl = await newDatabaseUrl('postgres');
    const settings = {
      ledger: { url: databaseUrl },
      secret: firstSecret,
      login: { verifierSecret: `${verifierSecret}, ${newVerifierSecret}` },
    };
    const first = await startLedgerSite(settings);
    const rotated = {
      login: { verifierSecret: `${newVerifierSecret}, ${verifierSecret}` },
      runningSimulator: first.simulator,
    };
    const second = await startLedgerSite({ ...settings, ...rotated });
    const invoice = { ...terms, destination, login: true };
    first.faults.failOnce('confirm', 'before');
    const lost = first.router.createPayment(invoice, { idempotencyKey });
    await expect(lost).rejects.toMatchObject({ code: 'ledger_unavailable' });
    return { first, second, invoice };
  }

  test('after a rotation of the verifier key returns a payment whose creation was not recorded', async () => {
    const { first, second, invoice } = await rotateAfterLostCreation();
    const { id, clientSecret } = await second.router.createPayment(invoice, { idempotencyKey });
    const wallet = first.simulator.wallet();
    await wallet.pay(clientSecret);
    await second.router.intents.recheck(id);
    expect(await untilState(second, id, 'settled')).toMatchObject({ userId: wallet.userId('shop.example') });
    expect((await second.router.intents.list()).intents.map((intent) => intent.id)).toEqual([id]);
  });

  test('after a rotation of the verifier key reports an outage during the attempt with the earlier key', async () => {
    const { first, second, invoice } = await rotateAfterLostCreation();
    // Faults apply in their order: the current key is refused, then the service answers no call.
    first.simulator.injectFault({ kind: 'error', operations: ['createIntent'], times: 1 });
    const endOutage = first.simulator.injectFault({ kind: 'status', operations: ['createIntent'], times: 100 });
    const interrupted = second.router.createPayment(invoice, { idempotencyKey });
    await expect(interrupted).rejects.toMatchObject({ code: 'sequencer_bad_status' });
    endOutage();
    expect(await second.router.createPayment(invoice, { idempotencyKey })).toHaveProperty('clientSecret');
    expect((await second.router.intents.list()).intents).toHaveLength(1);
  });

  test('rejects a repeated call that the service refuses again, and creates the payment later', async () => {
    const site = await startLedgerSite({ ledger: { url: await newDatabaseUrl('postgres') } });
    const refusal = { kind: 'error', operations: ['createIntent'], times: 1 } as const;
    for (const _attempt of [1, 2]) {
      site.simulator.injectFault(refusal);
      const refused = site.router.createPayment({ ...terms, destination }, { idempotencyKey });
      await expect(refused).rejects.toMatchObject({ code: 'intent_refused' });
    }
    expect(await site.router.createPayment({ ...terms, destination }, { idempotencyKey })).toHaveProperty('id');
  });

  test('needs a ledger', async () => {
    const { router } = await startSiteWithSimulator();
    await expect(router.createPayment(terms)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: 'createPayment requires a ledger, which polls the payment. Set INTENT_DATABASE_URL.',
    });
  });

  describe('on a site without logins and without a payment hook', () => {
    let site: LedgerSite;
    beforeAll(async () => {
      const databaseUrl = await newDatabaseUrl('embedded');
      site = await startLedgerSite({ ledger: { url: databaseUrl }, login: false, payment: undefined, destination });
    });
    const create = (given: object, options?: object) =>
      site.router.createPayment(given as SitePaymentTerms, options as CreatePaymentOptions);

    test('creates payments, with an idempotency key only if a secret is set', async () => {
      expect(await create(terms)).toMatchObject({ id: expect.any(String) });
      await expect(create(terms, { idempotencyKey })).rejects.toThrow(/requires a secret .* Set INTENT_SECRET/);
      const databaseUrl = await newDatabaseUrl('embedded');
      const given = { ledger: { url: databaseUrl }, login: false, payment: undefined, destination } as const;
      const { router } = await startLedgerSite({ ...given, secret: firstSecret });
      const invoice = { amount: '1.00', currency: 'usd' };
      const first = await router.createPayment(invoice, { idempotencyKey });
      expect(await router.createPayment(invoice, { idempotencyKey })).toEqual(first);
    });

    test.each<[what: string, given: unknown, options: object, code: string]>([
      ['no terms', undefined, {}, 'invalid_terms'],
      ['an unknown term', { ...terms, ammount: 1 }, {}, 'invalid_terms'],
      ['a resource', { ...terms, resource: 'article' }, {}, 'invalid_terms'],
      ['no amount', { currency: 'eur' }, {}, 'invalid_terms'],
      ['a small amount', { amount: '0.04', currency: 'usd' }, {}, 'invalid_terms'],
      ['an invalid account', { ...terms, destination: 'x' }, {}, 'invalid_terms'],
      ['two lines as the description', { ...terms, description: 'a\nb' }, {}, 'invalid_terms'],
      ['an unknown option', terms, { idempotency: 'x' }, 'invalid_request'],
      ['a long key', terms, { idempotencyKey: 'x'.repeat(256) }, 'invalid_idempotency_key'],
      ['a login, which the site does not have', { ...terms, login: true }, {}, 'not_supported'],
    ])('rejects %s', async (_what, given, options, code) => {
      await expect(create(given as object, options)).rejects.toMatchObject({ code });
    });
  });

  test('is waited for by close, which closes the ledger afterwards', async () => {
    const inner = (await startSiteWithSimulator()).simulator.transport;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const called = new EventTarget();
    const sent = once(called, 'createIntent');
    const transport: Transport = {
      ...inner,
      call: async (operation, ...rest) => {
        called.dispatchEvent(new Event(operation.method));
        await held;
        return inner.call(operation, ...rest);
      },
    };
    const site = await startLedgerSite({ ledger: { url: await newDatabaseUrl('embedded') }, sequencer: { transport } });
    const payment = site.router.createPayment({ ...terms, destination });
    await sent;
    const closed = site.router.close();
    release();
    expect(await payment).toMatchObject({ id: expect.any(String) });
    await closed;
    const methods = site.faults.calls.map(({ method }) => method);
    expect(methods.filter((method) => method === 'recordIntent' || method === 'close')).toEqual([
      'recordIntent',
      'close',
    ]);
  });
});
