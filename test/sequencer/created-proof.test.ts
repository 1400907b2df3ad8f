import { once } from 'node:events';
import { createIntentClient, generateKeyPair, type IntentClient } from '../../src/index.js';
import type { Dialect } from '../../src/sequencer/calls.js';
import { type Answer, bytes, type FaultSequencer, faultSequencer, ok } from '../support/sequencers/fault-sequencer.js';

/** Timeouts that no test reaches: a retry would be one more call. */
const ample = { timeoutMs: 160_000 };
const payment = { destination: generateKeyPair().publicKey, amount: '4.50', currency: 'usd' };
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const octets = { 'content-type': 'application/octet-stream' };

/** Answers getStatus with `status` as the inner message, and all other calls with `answer`. */
const withStatus =
  (status: Answer, other: Answer): Answer =>
  (call, res, req) =>
    (call.operation.method === 'getStatus' ? status : other)(call, res, req);

const exists = ok(hex('0801'));
/** Responses of a proxy to any request. */
const emptyEnvelope: Answer = (_call, res) => void res.writeHead(200, { ...octets, 'content-length': 0 }).end();
const emptyWithoutType: Answer = (_call, res) => void res.writeHead(200, { 'content-length': 0 }).end();

let clients: IntentClient[] = [];
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});

async function create(answer: Answer, dialect: Dialect = 'intents'): Promise<{ calls: string[]; code: string }> {
  const sequencer = await faultSequencer(answer);
  const client = createIntentClient({ url: sequencer.url, dialect, ...ample });
  clients.push(client);
  const code = await client.paymentIntents.create(payment).then(
    ({ clientSecret }) => (clientSecret ? 'created' : 'no secret'),
    (error) => String(error.code),
  );
  return { calls: methodsOf(sequencer), code };
}

const methodsOf = ({ calls }: FaultSequencer): string[] => calls.map(({ method }) => method);

describe('a create with an OK envelope', () => {
  test.each<[string, string]>([
    ['a status that exists', '0801'],
    ['a status that was paid meanwhile', '0801 1001 1801'],
  ])('and %s is proven without a getStatus', async (_what, status) => {
    expect(await create(ok(hex(status)))).toEqual({ calls: ['createIntent'], code: 'created' });
  });

  test('in the messaging dialect is proven by the message id', async () => {
    const answer = ok(hex(`1212 0a10 ${'ab'.repeat(16)}`));
    expect(await create(answer, 'messaging')).toEqual({ calls: ['sendMessage'], code: 'created' });
  });

  test.each<[string, Dialect, string, Answer]>([
    ['zero bytes', 'intents', 'createIntent', emptyEnvelope],
    ['zero bytes', 'messaging', 'sendMessage', emptyEnvelope],
    ['zero bytes without a type', 'intents', 'createIntent', emptyWithoutType],
    ['only an empty message', 'intents', 'createIntent', bytes(hex('1a00'))],
    ['a result after an empty message', 'intents', 'createIntent', bytes(hex('1a00 0800'))],
    ['only unknown fields', 'intents', 'createIntent', bytes(hex('4807 7a0178'))],
    ['a result written out', 'intents', 'createIntent', ok(hex('0800'))],
    ['an id of no bytes', 'messaging', 'sendMessage', ok(hex('1202 0a00'))],
    ['a status with more around it', 'intents', 'createIntent', ok(hex('0801 2201 61'))],
    ['a number where a flag belongs', 'intents', 'createIntent', ok(hex('0802'))],
  ])('and %s, dialect %s, is proven by one getStatus', async (_what, dialect, method, answer) => {
    const calls = [method, 'getStatus'];
    expect(await create(withStatus(exists, answer), dialect)).toEqual({ calls, code: 'created' });
  });

  test('is proven by getStatus also after close() was called, which waits for it', async () => {
    let release = (): void => undefined;
    const arrived = new EventTarget();
    const held: Answer = (call, res, req) => {
      release = () => emptyEnvelope(call, res, req);
      arrived.dispatchEvent(new Event('call'));
    };
    const sequencer = await faultSequencer(withStatus(exists, held));
    const client = createIntentClient({ url: sequencer.url, ...ample });
    const isHeld = once(arrived, 'call');
    const creating = client.paymentIntents.create(payment);
    await isHeld;
    const closed = client.close();
    await expect(client.paymentIntents.getStatus(payment.destination)).rejects.toMatchObject({
      code: 'sequencer_unreachable',
    });
    release();
    expect(await creating).toMatchObject({ clientSecret: expect.any(String) });
    await closed;
    expect(methodsOf(sequencer)).toEqual(['createIntent', 'getStatus']);
  });

  test('whose getStatus fails returns no secret', async () => {
    const broken: Answer = (_call, res) => void res.writeHead(500).end();
    expect(await create(withStatus(broken, emptyEnvelope))).toMatchObject({ code: 'sequencer_bad_status' });
  });

  test.each<[string, Answer]>([
    ['of type text/html', (_call, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end()],
    ['of type text/plain', (_call, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end()],
    ['of type application/json', (_call, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end()],
    ['with status 204', (_call, res) => void res.writeHead(204, octets).end()],
    [
      'without a type that ends with the connection, which may be a cut',
      (_call, _res, req) => req.socket.end('HTTP/1.1 200 OK\r\n\r\n'),
    ],
    [
      'that ends with the connection, which may be a cut',
      (_call, _res, req) => req.socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\n\r\n'),
    ],
  ])('fails for an empty response %s', async (_what, answer) => {
    expect(await create(answer)).toEqual({ calls: ['createIntent'], code: 'sequencer_bad_response' });
  });

  test('fails for a response that is cut before its first byte', async () => {
    const cut: Answer = (_call, res) => {
      res.writeHead(200, { ...octets, 'content-length': 4 });
      res.flushHeaders();
      setImmediate(() => res.destroy());
    };
    expect(await create(withStatus(exists, cut))).toMatchObject({ code: 'sequencer_unreachable' });
  });
});

test('a create whose response is lost is retried with the same bytes and then proven', async () => {
  const sequencer = await faultSequencer((call, res, req) => {
    if (call.n === 1) return void req.socket.destroy();
    withStatus(exists, emptyEnvelope)(call, res, req);
  });
  const client = createIntentClient({ url: sequencer.url, ...ample });
  clients.push(client);
  await client.paymentIntents.create(payment);
  const [first, second, ...rest] = sequencer.calls;
  expect(methodsOf(sequencer)).toEqual(['createIntent', 'createIntent', 'getStatus']);
  expect(second?.body).toEqual(first?.body);
  expect(rest).toHaveLength(1);
});

describe('a valid envelope of zero bytes', () => {
  test('is the status of an unknown intent, and the registration of a webhook', async () => {
    const sequencer = await faultSequencer(bytes(new Uint8Array()));
    const client = createIntentClient({ url: sequencer.url, ...ample });
    clients.push(client);
    const intent = generateKeyPair().publicKey;
    expect(await client.paymentIntents.getStatus(intent)).toEqual({
      exists: false,
      codeScanned: false,
      intentSubmitted: false,
    });
    await client.registerWebhook({ intent, url: 'https://example.com/intent/webhook' });
    expect(methodsOf(sequencer)).toEqual(['getStatus', 'registerWebhook']);
  });
});

describe('a rejected create', () => {
  const refusing = (reason: string): Answer => bytes(Buffer.concat([hex('0801 1a'), lengthPrefixed(reason)]));
  const lengthPrefixed = (text: string): Buffer =>
    Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)]);
  const refusal = async (reason: string, dialect: Dialect = 'intents'): Promise<Record<string, unknown>> => {
    const sequencer = await faultSequencer(refusing(reason));
    const client = createIntentClient({ url: sequencer.url, dialect, ...ample });
    clients.push(client);
    return client.paymentIntents.create(payment).catch((error) => error);
  };

  test.each(['the amount is over the maximum of 250.00 usd', 'this payment method is not supported'])(
    'with the reason "%s" is intent_refused, with the reason for the log',
    async (reason) => {
      const error = await refusal(reason);
      expect(error).toMatchObject({
        name: 'SequencerError',
        code: 'intent_refused',
        status: 502,
        serviceMessage: reason,
      });
      expect(error.message).not.toContain(reason);
    },
  );

  test('without a reason is sequencer_error', async () => {
    expect(await refusal('')).toMatchObject({ code: 'sequencer_error', serviceMessage: '' });
  });

  test.each([
    'Invalid service name',
    'no such method',
    'method createIntent not found',
    'Service Intents is not supported',
  ])('with the reason "%s" names the option dialect', async (reason) => {
    const error = await refusal(reason);
    expect(error).toMatchObject({ code: 'sequencer_error', serviceMessage: reason });
    expect(error.message).toMatch(/Intents\.createIntent.*dialect: 'messaging'/);
    expect((await refusal(reason, 'messaging')).message).toMatch(/Messaging\.sendMessage.*dialect: 'intents'/);
  });
});
