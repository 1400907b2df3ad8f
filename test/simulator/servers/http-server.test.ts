import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { startSimulator } from '../../../src/simulator/index.js';
import { encodeRequest, operations } from '../../../src/wire/envelope.js';
import { call, closeAll, post, reason, start } from '../fixture.js';

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

describe('access from this machine only', () => {
  test.each(['/healthz', '/wallet', '/wallet/api/wallets', '/v1/api'])(
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
