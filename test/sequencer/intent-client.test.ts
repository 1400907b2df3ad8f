import bs58 from 'bs58';
import {
  createIntentClient,
  type Dialect,
  type IntentClient,
  type IntentClientOptions,
  type IntentStatus,
} from '../../src/index.js';
import { createSigner, generateKeyPair, type Signer } from '../../src/keys/verifier-key.js';
import { type Simulator, startSimulator } from '../../src/testing.js';
import { serve } from '../support/sites/serve.js';
import { rejectedCode } from '../wire/thrown-code.js';

const domain = 'shop.example';
const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
const fresh: IntentStatus = { exists: true, codeScanned: false, intentSubmitted: false };

let simulator: Simulator;
let verifier: Signer;
let stranger: Signer;

beforeAll(async () => {
  verifier = createSigner(generateKeyPair().secret);
  stranger = createSigner(generateKeyPair().secret);
  const keyFile = JSON.stringify({ public_keys: [verifier.publicKey] });
  const origin = await serve((_req, res) => res.end(keyFile));
  simulator = await startSimulator({ port: 0, grpcPort: 0, localDomains: { [domain]: origin } });
});

afterAll(() => simulator.close());

/** Every transport and every dialect. */
const dialects: readonly Dialect[] = ['intents', 'messaging'];
const transports: readonly [string, (simulator: Simulator) => IntentClientOptions][] = [
  ['over the proxy', ({ url }) => ({ url })],
  ['over gRPC', ({ grpcUrl }) => ({ grpcUrl })],
  ['in the process', ({ transport }) => ({ transport })],
];
const combinations = transports.flatMap(([transport, optionsOf]) =>
  dialects.map((dialect) => ({ transport, optionsOf, dialect })),
);

describe.each(combinations)('dialect $dialect, against the simulator $transport', ({ optionsOf, dialect }) => {
  let client: IntentClient;
  const payment = { destination, amount: '12.50', currency: 'usd' };
  const login = () => ({ login: { verifier: verifier.publicKey, domain }, signers: [stranger, verifier] });

  beforeEach(() => {
    client = createIntentClient({ ...optionsOf(simulator), dialect });
  });
  afterEach(() => client.close());

  it('creates a payment to an account in Base64, which the wallet sees in Base58 (interface 2.2)', async () => {
    const base64 = Buffer.from(bs58.decode(destination)).toString('base64');
    const { clientSecret } = await client.paymentIntents.create({ ...payment, destination: base64 });
    expect(await simulator.wallet().scan(clientSecret)).toMatchObject({ destination });
  });

  it('creates a payment that the sequencer knows (interface 4.3, 4.4, 4.7)', async () => {
    const { id, clientSecret } = await client.paymentIntents.create(payment);
    expect(bs58.decode(id)).toHaveLength(32);
    // 0x02, usd = 0x8c, 1250 hundredths in seven bytes.
    expect(Buffer.from(bs58.decode(clientSecret)).toString('hex')).toMatch(/^028ce2040000000000.{22}$/);
    expect(await client.paymentIntents.getStatus(id)).toEqual(fresh);
  });

  it('distinguishes a scanned payment from a paid one (interface 2.6, 3)', async () => {
    const { id, clientSecret } = await client.paymentIntents.create(payment);
    const seen = await simulator.wallet().scan(clientSecret);
    expect(seen).toMatchObject({ id, kind: 'payment' });
    expect(await client.paymentIntents.getStatus(id)).toEqual({ ...fresh, codeScanned: true });
    await simulator.wallet().pay(clientSecret);
    expect(await client.paymentIntents.getStatus(id)).toEqual({
      exists: true,
      codeScanned: true,
      intentSubmitted: true,
    });
  });

  it('yields the scan and the payment as events (interface 4.5, 6)', async () => {
    const { id, clientSecret } = await client.paymentIntents.create(payment);
    const kinds: string[] = [];
    const watching = (async () => {
      for await (const { kind } of client.watch({ id, clientSecret })) kinds.push(kind);
    })();
    await simulator.wallet().scan(clientSecret);
    await simulator.wallet().pay(clientSecret);
    await watching;
    expect(kinds).toEqual(['code_scanned', 'intent_submitted']);
  });

  it('creates a login, and returns the user id only after the wallet logged in (interface 4.7, 5.3)', async () => {
    const { id, clientSecret } = await client.loginIntents.create(login());
    expect(bs58.decode(clientSecret)).toHaveLength(20);
    expect(await client.loginIntents.getStatus(id)).toEqual(fresh);
    const userId = () => client.loginIntents.getUserId({ intent: id, verifier });
    expect(await rejectedCode(userId())).toBe('login_pending');

    await simulator.wallet('Ben').login(clientSecret);
    expect(await userId()).toEqual({ userId: simulator.wallet('Ben').userId(domain) });
    expect(await client.loginIntents.getStatus(id)).toMatchObject({ intentSubmitted: true });
  });

  it('creates a payment that logs the payer in as well (interface 4.7, protocol 3)', async () => {
    const { id, clientSecret } = await client.paymentIntents.create({ ...payment, ...login() });
    expect(await client.paymentIntents.getStatus(id)).toEqual(fresh);
    expect(await rejectedCode(client.loginIntents.getUserId({ intent: id, verifier }))).toBe('login_pending');
    await simulator.wallet('Mia').pay(clientSecret);
    expect(await client.loginIntents.getUserId({ intent: id, verifier })).toEqual({
      userId: simulator.wallet('Mia').userId(domain),
    });
  });

  it('returns no user id to another verifier (interface 5.3)', async () => {
    const { id, clientSecret } = await client.loginIntents.create(login());
    await simulator.wallet().login(clientSecret);
    expect(await rejectedCode(client.loginIntents.getUserId({ intent: id, verifier: stranger }))).toBe(
      'intent_not_found',
    );
  });

  it('distinguishes a payment without login and an unknown intent from a pending login (interface 4.7)', async () => {
    const { id } = await client.paymentIntents.create(payment);
    expect(await rejectedCode(client.loginIntents.getUserId({ intent: id, verifier }))).toBe('not_supported');
    const unknown = generateKeyPair().publicKey;
    expect(await rejectedCode(client.loginIntents.getUserId({ intent: unknown, verifier }))).toBe('intent_not_found');
  });

  it('rejects a login whose verifier is not published at its domain (interface 4.6, 5.3)', async () => {
    const unlisted = { login: { verifier: stranger.publicKey, domain }, signers: [stranger] };
    expect(await rejectedCode(client.loginIntents.create(unlisted))).toBe('intent_refused');
  });

  it('prepares an intent without sending it, however often', async () => {
    const prepared = await client.paymentIntents.prepare(payment);
    expect(await client.paymentIntents.getStatus(prepared.id)).toMatchObject({ exists: false });
    const { id, clientSecret } = prepared;
    expect(await Promise.all([prepared.create(), prepared.create()])).toEqual([
      { id, clientSecret },
      { id, clientSecret },
    ]);
    expect(await client.paymentIntents.getStatus(id)).toEqual(fresh);
    expect(await simulator.wallet().scan(clientSecret)).toMatchObject({ id, amount: '12.50' });
  });

  it('prepares the same payment again from its client secret, also with a login', async () => {
    const parameters = { ...payment, ...login() };
    const { clientSecret, id } = await client.paymentIntents.create(parameters);
    const again = await client.paymentIntents.prepare({ ...parameters, amount: 12.5, clientSecret });
    expect(await again.create()).toEqual({ id, clientSecret });
  });

  it('rejects a client secret of other terms, and an invalid one', async () => {
    const paid = await client.paymentIntents.create(payment);
    const loggedIn = await client.loginIntents.create(login());
    const { prepare } = client.paymentIntents;
    const attempts = [
      prepare({ ...payment, amount: '12.51', clientSecret: paid.clientSecret }),
      prepare({ ...payment, currency: 'eur', clientSecret: paid.clientSecret }),
      prepare({ ...payment, clientSecret: loggedIn.clientSecret }),
      prepare({ ...payment, clientSecret: paid.id }),
      prepare({ ...payment, clientSecret: '' }),
      client.loginIntents.prepare({ ...login(), clientSecret: paid.clientSecret }),
    ];
    expect(await Promise.all(attempts.map(rejectedCode))).toEqual(attempts.map(() => 'invalid_client_secret'));
    await expect(client.loginIntents.prepare({ ...login(), clientSecret: paid.clientSecret })).rejects.toThrow(
      'of another kind or with other terms. Use its kind, amount and currency.',
    );
  });
});
