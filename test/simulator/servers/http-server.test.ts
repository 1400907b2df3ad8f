import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { startSimulator } from '../../../src/simulator/index.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { encodeRequest, operations } from '../../../src/wire/envelope.js';
import { call, closeAll, createBody, payment, post, reason, serveKeyFile, start, statusFlags } from '../fixture.js';

afterEach(closeAll);

/** `fetch` cannot set the Host header. */
function statusWithHost(url: string, path: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    httpRequest({ host: '127.0.0.1', port, path, headers: { host } }, (res) => {
      res.resume();
      resolve(res.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('the proxy (interface 2.1, 4.1, 7)', () => {
  test.each([
    ['Unknown', 'createIntent'],
    ['__proto__', 'constructor'],
  ])('answers ERROR to the unknown operation %s.%s', async (service, method) => {
    const { url } = await start();
    expect(reason(await call(url, { service, method }, new Uint8Array()))).toBe('Unknown service or method.');
  });

  test('answers 413 to more than 64 KiB', async () => {
    const { url } = await start();
    const sized = (length: number) => Buffer.concat([Uint8Array.of(0x0a, 0x80, 0x80, 0x04), new Uint8Array(length)]);
    expect((await post(url, sized(64 * 1024 - 3))).status).toBe(413);
    expect((await post(url, encodeRequest(operations.getStatus, new Uint8Array(64 * 1024 - 40)))).status).toBe(200);
  });

  test.each([
    ['nothing', new Uint8Array()],
    ['garbage', new Uint8Array(100).fill(0xff)],
    ['half an envelope', Uint8Array.of(0x12, 0x0c, 0x4d)],
  ])('answers 400 to %s', async (_name, body) => {
    const { url } = await start();
    expect((await post(url, body)).status).toBe(400);
  });
});

/** Posts bytes without an envelope. */
function postIntent(url: string, body: Uint8Array, contentType = 'application/octet-stream'): Promise<Response> {
  return fetch(`${url}/v1/createIntent`, { method: 'POST', headers: { 'content-type': contentType }, body });
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('POST /v1/createIntent (interface 4.3)', () => {
  test('creates the intent of a bare message, answers its status, and appears in the inspector', async () => {
    const { url } = await start();
    const intent = await payment();
    const response = await postIntent(url, createBody(intent));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect((await bytesOf(response)).toString('hex')).toBe('0801');
    expect(await statusFlags(url, intent.id)).toEqual([true, false, false]);
    expect(await (await fetch(`${url}/inspector/api/intents/${intent.id}`)).json()).toMatchObject({
      entries: [
        {
          ...{ kind: 'call', operation: 'Intents.createIntent', via: 'proxy', times: 1 },
          response: { content: { exists: true } },
        },
        { operation: 'MicroPayment.getStatus' },
      ],
    });
    expect(await bytesOf(await postIntent(url, createBody(intent)))).toEqual(Buffer.of(0x08, 0x01));
  });

  test('accepts the known answer of a login (protocol 7)', async () => {
    const publisher = await serveKeyFile(['FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF']);
    const { url } = await start({ localDomains: { 'example.com': publisher } });
    const message = Buffer.from(
      '529b010a0d0a0b6578616d706c652e636f6d22220a2003a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8' +
        '2a420a40017ce7d828f43441c03b5669177908bc193db63c3d03c5d5d17a77c996534878556b6585b959e580db1762bea21d5f80a702' +
        '3168a5c683ac500509d8a2d5420732220a20e2fb979bb8ca3eb5073ef1f636089417756cc8e2c3ca8a5422dc3e17627bf803',
      'hex',
    );
    const signature = Buffer.from(
      '71bfe07a07ff58cad5739bffe7def9ea92c39b33d867508a7cc62d38821d2e07738c1705f70ffaa6c603e03f2c9c2fce9d2fe6f52360' +
        '0c8412a7734b4fda2d0b',
      'hex',
    );
    const signed = encode(v1.Message, { sendMessageRequestSignature: { value: signature } });
    const response = await postIntent(url, Buffer.concat([signed, message]));
    expect([response.status, (await bytesOf(response)).toString('hex')]).toEqual([200, '0801']);
    expect(await statusFlags(url, 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht')).toEqual([true, false, false]);
  });

  test('answers 400 with the reason to a refused intent', async () => {
    const { url } = await start();
    const intent = await payment();
    const forged = { ...intent, signature: intent.signature.map((byte, index) => (index === 0 ? byte ^ 1 : byte)) };
    for (const [body, message] of [
      [createBody(forged), 'The intent is not signed by its rendezvous key.'],
      [createBody(await payment({}, false)), 'The message must name its rendezvous key.'],
      [encodeRequest(operations.createIntent, createBody(intent)), expect.any(String)],
      [new Uint8Array(), 'Only payment requests and logins can be created.'],
    ] as const) {
      const response = await postIntent(url, body);
      expect([response.status, await response.json()]).toEqual([400, { error: { code: 'intent_refused', message } }]);
    }
    expect(await statusFlags(url, intent.id)).toEqual([false, false, false]);
  });

  test('has the limits of the proxy, and is closed to pages of other origins', async () => {
    const { url } = await start();
    const body = createBody(await payment());
    expect((await postIntent(url, new Uint8Array(64 * 1024 + 1))).status).toBe(413);
    expect((await postIntent(url, body, 'application/json')).status).toBe(415);
    const { status, headers } = await fetch(`${url}/v1/createIntent`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    expect((await postIntent(url, body)).headers.get('access-control-allow-origin')).toBeNull();
  });

  test('applies the faults of the operation createIntent', async () => {
    const simulator = await start();
    const { url } = simulator;
    const body = createBody(await payment());
    const operation = { operations: ['createIntent'], times: 1 } as const;
    simulator.injectFault({ ...operation, kind: 'error' });
    const refused = await postIntent(url, body);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: { code: 'intent_refused', message: 'A fault was injected: error.' } },
    ]);
    simulator.injectFault({ ...operation, kind: 'status', httpStatus: 503 });
    expect((await postIntent(url, body)).status).toBe(503);
    for (const when of ['before', 'after'] as const) {
      simulator.injectFault({ ...operation, kind: 'cut', when });
      await expect(postIntent(url, body).then(bytesOf)).rejects.toThrow();
    }
    simulator.injectFault({ ...operation, kind: 'garble', when: 'after' });
    const garbled = await bytesOf(await postIntent(url, body));
    expect(() => decode(v1.GetStatusResponse, garbled)).toThrow();
    simulator.injectFault({ ...operation, kind: 'drip', ms: 1 });
    expect(await bytesOf(await postIntent(url, body))).toEqual(Buffer.of(0x08, 0x01));
  });
});

describe('access from this machine only', () => {
  test.each(['/healthz', '/wallet', '/wallet/api/wallets', '/v1/api', '/v1/createIntent'])(
    'answers 403 to a foreign Host: %s',
    async (path) => {
      const { url } = await start();
      for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example']) {
        expect(await statusWithHost(url, path, host)).toBe(403);
      }
    },
  );

  test.each(['localhost:4747', '[::1]:80', 'LOCALHOST'])('accepts the Host %s', async (host) => {
    const { url } = await start();
    expect(await statusWithHost(url, '/healthz', host)).toBe(200);
  });

  test('listens on 127.0.0.1 only', async () => {
    const { url } = await start();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { port } = new URL(url);
    const refused = new Promise((resolve) => {
      connect(Number(port), '127.0.0.2')
        .on('error', () => resolve('refused'))
        .on('connect', () => resolve('connected'));
    });
    expect(await refused).toBe('refused');
  });
});

describe('start and end', () => {
  test('names a port in use and the option that sets it', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    await expect(startSimulator({ port: Number(port) })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(new RegExp(`port ${port} .*in use.*Set the option port`)),
    });
  });

  test('close ends connections, also during a request, and is idempotent', async () => {
    const simulator = await startSimulator();
    const { port } = new URL(simulator.url);
    const socket = connect(Number(port), '127.0.0.1');
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    // The response to Expect proves that the request is in progress. Its body never arrives.
    socket.write(
      'POST /v1/api HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/octet-stream\r\n' +
        'content-length: 9\r\nexpect: 100-continue\r\n\r\n',
    );
    await new Promise((resolve) => socket.once('data', resolve));
    await Promise.all([simulator.close(), simulator.close(), ended]);
    await simulator.close();
    await expect(fetch(`${simulator.url}/healthz`)).rejects.toThrow();
  });
});
