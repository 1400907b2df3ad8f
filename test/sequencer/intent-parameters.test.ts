import { createIntentClient, createSigner, generateKeyPair, type IntentClient, type Signer } from '../../src/index.js';
import type { Transport } from '../../src/sequencer/transport.js';
import { type FaultSequencer, ok, plainSuccess, startFaultSequencer } from '../support/sequencers/fault-sequencer.js';
import { rejectedCode, thrownCode } from '../wire/thrown-code.js';

const destination = generateKeyPair().publicKey;
const verifier = createSigner(generateKeyPair().secret);
const other = createSigner(generateKeyPair().secret);
const domain = 'shop.example';
const payment = { destination, amount: '1.00', currency: 'usd' };
const login = { verifier: verifier.publicKey, domain };

let sequencer: FaultSequencer;
let client: IntentClient;

beforeAll(async () => {
  sequencer = await startFaultSequencer(ok());
  // A retry after a timeout would be another call.
  client = createIntentClient({ url: sequencer.url, timeoutMs: 160_000 });
});
afterAll(async () => {
  await client.close();
  await sequencer.close();
});
afterEach(() => sequencer.calls.splice(0));

const lying = {
  publicKey: verifier.publicKey,
  sign: (bytes: Uint8Array) => other.sign(bytes),
};
const throwing = {
  publicKey: verifier.publicKey,
  sign: (): Uint8Array => {
    throw new Error('the vault is sealed');
  },
};

describe('invalid parameters are rejected before anything is sent', () => {
  it('while valid parameters are sent, which proves the checks below', async () => {
    await client.paymentIntents.create(payment);
    expect(sequencer.calls).toHaveLength(1);
  });

  it.each([
    ['no amount', { amount: '' }, 'invalid_amount'],
    ['an amount with a floating-point error', { amount: 0.1 + 0.2 }, 'invalid_amount'],
    ['a negative amount', { amount: -1 }, 'invalid_amount'],
    ['0.04 usd (interface 8)', { amount: '0.04' }, 'amount_too_small'],
    ['a currency in capitals', { currency: 'USD' }, 'unknown_currency'],
    ['no destination', { destination: '' }, 'invalid_account'],
    ['a destination of 31 bytes', { destination: '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLK' }, 'invalid_account'],
  ])('a payment: %s', async (_name, terms, code) => {
    expect(await rejectedCode(client.paymentIntents.create({ ...payment, ...terms }))).toBe(code);
    expect(sequencer.calls).toEqual([]);
  });

  it.each([
    ['a subdomain (interface 4.6)', { domain: 'pay.shop.example' }, [verifier], 'invalid_domain'],
    ['a URL (interface 4.6)', { domain: 'https://shop.example' }, [verifier], 'invalid_domain'],
    ['no signers (interface 5.3)', {}, [], 'invalid_key'],
    ['signers without that of the verifier (interface 5.3)', {}, [other], 'invalid_key'],
    ['an invalid verifier key', { verifier: 'me' }, [verifier], 'invalid_key'],
    ['a signer that signs with another key', {}, [lying], 'signer_failed'],
    ['a signer that throws', {}, [throwing], 'signer_failed'],
  ])('a login, and a payment with login: %s', async (_name, terms, signers, code) => {
    const parameters = { login: { ...login, ...terms }, signers };
    expect(await rejectedCode(client.loginIntents.create(parameters))).toBe(code);
    expect(await rejectedCode(client.paymentIntents.create({ ...payment, ...parameters }))).toBe(code);
    expect(sequencer.calls).toEqual([]);
  });

  it('missing signers (interface 5.3)', async () => {
    expect(await rejectedCode(client.paymentIntents.create({ ...payment, login }))).toBe('invalid_key');
    const untyped = { login } as unknown as Parameters<IntentClient['loginIntents']['create']>[0];
    expect(await rejectedCode(client.loginIntents.create(untyped))).toBe('invalid_key');
    expect(sequencer.calls).toEqual([]);
  });

  it.each(['', 'abc', '1'.repeat(31), '1'.repeat(45), ` ${destination}`])('an invalid id: %j', async (id) => {
    expect(await rejectedCode(client.paymentIntents.getStatus(id))).toBe('invalid_id');
    expect(await rejectedCode(client.loginIntents.getStatus(id))).toBe('invalid_id');
    expect(await rejectedCode(client.loginIntents.getUserId({ intent: id, verifier }))).toBe('invalid_id');
    expect(sequencer.calls).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['its public key', verifier.publicKey],
    ['a key pair', generateKeyPair()],
    ['nothing', undefined],
  ])(
    'a signer in place of which is %s: the error names createSigner, and why (interface 4.7)',
    async (_name, given) => {
      const intent = generateKeyPair().publicKey;
      const notSigner = given as Signer;
      const signed = {
        login: { ...login, verifier: notSigner?.publicKey ?? verifier.publicKey },
        signers: [notSigner],
      };
      for (const call of [
        () => client.loginIntents.getUserId({ intent, verifier: notSigner }),
        () => client.loginIntents.create(signed),
        () => client.paymentIntents.create({ ...payment, ...signed }),
      ]) {
        await expect(call()).rejects.toMatchObject({
          code: 'invalid_key',
          message: expect.stringMatching(/must be a signer.*signs the request.*createSigner\(secret\)/),
        });
      }
    },
  );

  it('getUserId: a signer that does not sign as the verifier it names (interface 5.3)', async () => {
    const intent = generateKeyPair().publicKey;
    expect(await rejectedCode(client.loginIntents.getUserId({ intent, verifier: lying }))).toBe('signer_failed');
    expect(await rejectedCode(client.loginIntents.getUserId({ intent, verifier: throwing }))).toBe('signer_failed');
    expect(sequencer.calls).toEqual([]);
  });
});

describe('createIntentClient', () => {
  it.each([
    ['neither url nor transport', {}],
    ['an empty url', { url: '' }],
    ['a host alone', { url: 'sequencer.example' }],
    ['a scheme that is not HTTP', { url: 'grpc://sequencer.example' }],
    ['a user name and a password', { url: 'https://user:password@sequencer.example' }],
    ['a query', { url: 'https://sequencer.example/base?key=1' }],
    ['a fragment', { url: 'https://sequencer.example#base' }],
    ['a path over gRPC', { grpcUrl: 'https://sequencer.example/base' }],
    ['no scheme over gRPC', { grpcUrl: 'sequencer.example:443' }],
    ['the name of the simulator, which only the router starts', { url: 'simulator' }],
    ['no time at all', { url: 'https://sequencer.example', timeoutMs: 0 }],
    ['an endless time', { url: 'https://sequencer.example', timeoutMs: Number.POSITIVE_INFINITY }],
    ['more than a timer holds', { url: 'https://sequencer.example', timeoutMs: 2 ** 31 }],
    ['http to another machine', { url: 'http://sequencer.example' }],
    ['http to an address that only begins like this machine', { url: 'http://127.0.0.1.example' }],
    ['a dialect that there is not', { url: 'https://sequencer.example', dialect: 'messages' as 'messaging' }],
  ])('rejects %s', (_name, options) => {
    expect(thrownCode(() => createIntentClient(options))).toBe('invalid_configuration');
  });

  it.each([
    { url: 'http://localhost:4747' },
    { url: 'http://127.0.0.1:4747' },
    { url: 'http://127.1' },
    { url: 'http://[::1]:4747' },
    { url: 'http://sequencer.internal', dangerouslyAllowHttp: true },
    { url: 'https://sequencer.example', timeoutMs: 100 },
  ])('accepts %j', async (options) => {
    await createIntentClient(options).close();
  });

  it('uses a transport instead of a url for every call and close', async () => {
    const used: string[] = [];
    const transport: Transport = {
      call: async ({ service, method }) => {
        used.push(`${service}.${method}`);
        return plainSuccess(method);
      },
      close: async () => void used.push('close'),
    };
    const own = createIntentClient({ transport });
    await own.paymentIntents.create(payment);
    await own.paymentIntents.getStatus(destination);
    await own.close();
    expect(used).toEqual(['Intents.createIntent', 'MicroPayment.getStatus', 'close']);
  });
});
