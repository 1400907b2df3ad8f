import bs58 from 'bs58';
import request from 'supertest';
import { httpError } from '../../support/sites/http-error.js';
import { post } from '../../support/sites/post.js';
import { destination, expressVersions, startSiteWithSimulator } from '../../support/sites/site.js';

const pay = (origin: string, body: object = { mode: 'payment', order: 42 }) => post(origin).send(body);

describe.each(Object.entries(expressVersions))('POST /intent on %s', (_name, factory) => {
  test('answers 201 for a payment, with the client secret and nothing else (interface 1.5, 4.7)', async () => {
    const { origin, simulator } = await startSiteWithSimulator({ factory });
    const response = await pay(origin).expect(201);
    expect(Object.keys(response.body)).toEqual(['client_secret']);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.headers['cache-control']).toBe('no-store');
    const { amount, currency, destination: payee } = await simulator.wallet().scan(response.body.client_secret);
    expect({ amount, currency, payee }).toEqual({ amount: '4.50', currency: 'usd', payee: destination });
  });

  test('answers 201 for a login, with the client secret and nothing else (interface 1.6, 4.7)', async () => {
    const { origin, simulator } = await startSiteWithSimulator({ factory });
    const response = await pay(origin, { mode: 'login' }).expect(201);
    expect(Object.keys(response.body)).toEqual(['client_secret']);
    await expect(simulator.wallet().scan(response.body.client_secret)).resolves.toMatchObject({ kind: 'login' });
  });
});

test('POST /intent sets an HttpOnly cookie, once per browser', async () => {
  const { origin } = await startSiteWithSimulator();
  const first = await pay(origin).expect(201);
  const [cookie = ''] = first.get('Set-Cookie') ?? [];
  expect(cookie).toMatch(/^intent=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  const second = await pay(origin).set('Cookie', cookie).expect(201);
  expect(second.get('Set-Cookie')).toBeUndefined();
});

const throwingError = Object.defineProperty(new Error(), 'status', {
  get() {
    throw new Error('database password wrong');
  },
});

describe('the payment hook', () => {
  test('receives the order and sets the terms that the wallet sees', async () => {
    const seen: unknown[] = [];
    const { origin, simulator } = await startSiteWithSimulator({
      payment: async (req) => {
        seen.push(req.body);
        return { amount: 7.25, currency: 'eur', destination: sequencerAccount };
      },
    });
    const { body } = await pay(origin, { order: { article: 'tea', count: 2 } }).expect(201);
    expect(seen).toEqual([{ order: { article: 'tea', count: 2 } }]);
    const scanned = await simulator.wallet().scan(body.client_secret);
    expect(scanned).toMatchObject({ amount: '7.25', currency: 'eur', destination: sequencerAccount });
  });

  test('may fix the rate, which the wallet sees', async () => {
    const { origin, simulator } = await startSiteWithSimulator({
      payment: () => ({ amount: '4.50', currency: 'usd', exact: { exchangeRate: 0.25, quarks: 1_800_000n } }),
    });
    const { body } = await pay(origin).expect(201);
    const scanned = await simulator.wallet().scan(body.client_secret);
    expect(scanned).toMatchObject({ amount: '4.50', exact: { exchangeRate: 0.25, quarks: '1800000' } });
  });

  test('may not fix a rate at which the quarks are not the amount', async () => {
    const { origin, log } = await startSiteWithSimulator({
      payment: () => ({ amount: '4.50', currency: 'usd', exact: { exchangeRate: 0.25, quarks: '1802001' } }),
    });
    const { body } = await pay(origin).expect(500);
    expect(body.code).toBe('invalid_terms');
    expect(log.text).toContain('quarks / 100000 * exchangeRate is 4.5050025, the amount is 4.50 usd');
  });

  test.each([null, false, 0, {}])('that returns %j as `exact` causes a problem of the site', async (exact) => {
    const { origin, log } = await startSiteWithSimulator({
      payment: () => ({ amount: '4.50', currency: 'usd', exact }) as never,
    });
    expect((await pay(origin).expect(500)).body.code).toBe('invalid_terms');
    expect(log.text).toMatch(/Invalid exact in the terms/);
  });

  test('may set a destination in Base64, which the wallet sees in Base58', async () => {
    const base64 = Buffer.from(bs58.decode(sequencerAccount)).toString('base64');
    const { origin, simulator } = await startSiteWithSimulator({
      payment: () => ({ amount: 1, currency: 'usd', destination: base64 }),
    });
    const { body } = await pay(origin).expect(201);
    await expect(simulator.wallet().scan(body.client_secret)).resolves.toMatchObject({ destination: sequencerAccount });
  });

  test.each([
    ['a 4xx error with expose', httpError(404, 'No such article.', true), 404, 'request_refused', 'No such article.'],
    ['a 4xx error without expose', httpError(409, 'secret stock level 3', false), 409, 'request_refused', undefined],
    [
      'an HTTP error of its own call',
      Object.assign(new Error('401 from stock'), { status: 401 }),
      500,
      'internal_error',
      undefined,
    ],
    ['another error', new Error('database password wrong'), 500, 'internal_error', undefined],
    ['an error whose getter throws', throwingError, 500, 'internal_error', undefined],
  ])('that throws %s causes a problem', async (_name, thrown, status, code, detail) => {
    const { origin, log } = await startSiteWithSimulator({
      payment: () => {
        throw thrown;
      },
    });
    const problem = await pay(origin).expect(status);
    expect(problem.body).toMatchObject({ code, status });
    expect(problem.body.detail).toBe(detail);
    if (status === 500) expect(log.text).toContain('internal_error');
    expect(problem.text).not.toMatch(/password|stock|at .*\.ts/);
  });

  const valid = { amount: 1, currency: 'usd' };

  test.each<[unknown, string]>([
    [{ ...valid, amount: '0.04' }, 'amount ("0.04") in the terms. The minimum is 0.05 usd'],
    [{ ...valid, currency: 'xxx' }, 'currency ("xxx") in the terms. Unknown currency. Use a supported'],
    [
      { ...valid, destination: 'not-an-account' },
      'destination in the terms. The account is not the Base58 or Base64 form',
    ],
    [{ ...valid, resource: '' }, 'resource in the terms. The resource of a payment must be a string'],
    [{ ...valid, metadata: { at: new Date() } }, 'metadata in the terms. metadata.at is an instance of Date'],
    [{ ...valid, colour: 'red' }, 'unknown property "colour". Valid properties: amount,'],
    [undefined, 'must return { amount, currency }'],
  ])('that returns the terms %j causes a 500 invalid_terms, and one log line with the field', async (terms, reason) => {
    const { origin, log } = await startSiteWithSimulator({ payment: (() => terms) as never });
    log.lines.length = 0;
    const { body } = await pay(origin).expect(500);
    const title = 'The site set invalid terms for the payment';
    const type = 'urn:express-intents:error:invalid_terms';
    expect(body).toEqual({ type, title, status: 500, code: 'invalid_terms', instance: expect.any(String) });
    expect(log.lines).toHaveLength(1);
    expect(log.text).toMatch(/^error express-intents: invalid_terms /);
    expect(log.text.replaceAll('\\"', '"')).toContain(reason);
    expect(log.text).not.toContain('not-an-account');
  });

  test('that returns no destination causes a 500 invalid_terms, with the setting in the log', async () => {
    const { origin, log } = await startSiteWithSimulator({ payment: () => valid, destination: undefined });
    const { body } = await pay(origin).expect(500);
    expect(body.code).toBe('invalid_terms');
    expect(log.text).toContain('Set INTENT_DESTINATION');
  });
});

const sequencerAccount = 'FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF';

describe('onCreated', () => {
  test('that throws prevents the response with the secret', async () => {
    const { origin } = await startSiteWithSimulator({
      onCreated: () => {
        throw new Error('disk full');
      },
    });
    const response = await pay(origin).expect(500);
    expect(response.body.code).toBe('internal_error');
    expect(response.text).not.toContain('client_secret');
  });
});

describe('clientAmount', () => {
  const clientAmount = { min: '1.00', max: 50, currency: 'usd' };

  test('accepts an amount of the browser within the range', async () => {
    const { origin, simulator } = await startSiteWithSimulator({ clientAmount, payment: undefined });
    const { body } = await pay(origin, { amount: '12.30' }).expect(201);
    await expect(simulator.wallet().scan(body.client_secret)).resolves.toMatchObject({
      amount: '12.30',
      currency: 'usd',
    });
  });

  test('does not accept a fixed rate, neither from the hook nor from the browser', async () => {
    const exact = { exchangeRate: 1, quarks: '1230000' };
    const payment = () => ({ exact }) as never;
    const { origin, log } = await startSiteWithSimulator({ clientAmount, payment });
    expect((await pay(origin, { amount: '12.30' }).expect(500)).body.code).toBe('invalid_terms');
    expect(log.text).toContain('`exact` fixes the amount');
    expect((await pay(origin, { amount: '12.30', exact }).expect(400)).body.code).toBe('terms_not_accepted');
  });

  test.each([
    ['0.99', 'amount_too_small'],
    ['50.01', 'amount_too_large'],
    ['1.005', 'invalid_amount'],
    [undefined, 'invalid_amount'],
  ])('rejects the amount %j with %s', async (amount, code) => {
    const { origin } = await startSiteWithSimulator({ clientAmount, payment: undefined });
    const { body } = await pay(origin, { amount }).expect(400);
    expect(body.code).toBe(code);
  });

  test.each([
    [{ min: 5, max: 1, currency: 'usd' }, 'min is greater than max.'],
    [{ min: 1, max: 2, currency: 'nope' }, 'clientAmount: Unknown currency.'],
  ])('with the range %j is rejected at startup', async (range, problem) => {
    const rejected = expect(startSiteWithSimulator({ clientAmount: range })).rejects;
    await rejected.toThrow(/clientAmount/);
    await expect(startSiteWithSimulator({ clientAmount: range })).rejects.toThrow(problem);
  });
});

test('POST /intent answers not_supported for a payment when the site has none', async () => {
  const { origin } = await startSiteWithSimulator({ payment: undefined });
  const { body } = await pay(origin, { mode: 'payment' }).expect(400);
  expect(body.code).toBe('not_supported');
  await pay(origin, {}).expect(201);
});

test('with login: false, POST /intent answers not_supported for a login, and session routes and key file are missing', async () => {
  const { origin } = await startSiteWithSimulator({ login: false });
  const { body } = await pay(origin, { mode: 'login' }).expect(400);
  expect(body.code).toBe('not_supported');
  await request(origin).get('/session').expect(404);
  await request(origin).get('/.well-known/service-payments.json').expect(404);
  await pay(origin).expect(201);
});
