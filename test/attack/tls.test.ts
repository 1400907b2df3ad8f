import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { createIntentClient } from '../../src/client.js';
import { createHttpTransport } from '../../src/sequencer/http/http-transport.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { encodeOkResponse, operations } from '../../src/wire/envelope.js';
import { compile } from '../support/runner/child-program.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { startSite } from '../support/sites/site.js';
import { newBrowser } from './support/browsers.js';
import { inProduction } from './support/in-production.js';

type Closable = Server & { closeAllConnections?: () => void };
const servers: Closable[] = [];

/** Listens on a free port and returns it. */
async function listen(server: Closable): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, () => resolve()));
  return (server.address() as AddressInfo).port;
}

/** A service that counts its requests and has every intent. */
function counting(): RequestListener & { count: number } {
  const answer = encodeOkResponse(encode(v1.GetStatusResponse, { exists: true }));
  const listener = Object.assign(
    (req: Parameters<RequestListener>[0], res: Parameters<RequestListener>[1]): void => {
      listener.count += 1;
      req.resume();
      res.end(answer);
    },
    { count: 0 },
  );
  return listener;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe('self-signed certificate', () => {
  test('is rejected before any request is sent', async () => {
    const service = counting();
    const port = await listen(createServer(localhostCertificate, service));
    const site = await inProduction(() =>
      startSite({ sequencer: { url: `https://localhost:${port}` }, payment: () => ({ amount: 1, currency: 'usd' }) }),
    );
    const browser = newBrowser(site);
    for (const body of [{ order: 1 }, { mode: 'login' }]) {
      const { status, body: problem } = await browser.send('POST', '/intent', body);
      expect([status, problem.code]).toEqual([503, 'sequencer_unreachable']);
      expect(JSON.stringify(problem)).not.toContain('client_secret');
    }
    expect((await browser.send('GET', `/status/${'1'.repeat(32)}`)).status).toBe(503);
    expect(service.count).toBe(0);
  });

  test('is rejected over gRPC and for streams', async () => {
    let requests = 0;
    const server = createSecureServer(localhostCertificate);
    server.on('sessionError', () => undefined);
    server.on('stream', () => {
      requests += 1;
    });
    const upgrades = createServer(localhostCertificate);
    upgrades.on('upgrade', (_req, socket) => {
      requests += 1;
      socket.destroy();
    });
    const grpc = createIntentClient({ grpcUrl: `https://localhost:${await listen(server)}`, timeoutMs: 60_000 });
    await expect(grpc.paymentIntents.getStatus('1'.repeat(32))).rejects.toMatchObject({
      code: 'sequencer_unreachable',
    });
    await grpc.close();
    const transport = createHttpTransport({ url: `https://localhost:${await listen(upgrades)}`, timeoutMs: 60_000 });
    const stream = transport.openStream?.(operations.openMessageStream, new Uint8Array(), {});
    await expect(stream?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'sequencer_unreachable' });
    await transport.close();
    expect(requests).toBe(0);
  });
});

describe('TLS downgrade', () => {
  test.each([
    ['a service over http', { sequencer: { url: 'http://service.example' } }, 'sequencer.url'],
    ['gRPC without TLS', { sequencer: { grpcUrl: 'http://service.example' } }, 'sequencer.grpcUrl'],
    ['an origin of the site over http', { origin: 'http://shop.example' }, 'origin'],
    ['a wallet over http', { button: { walletUrl: 'http://wallet.example' } }, 'button.walletUrl'],
  ])('in production is rejected at startup: %s', async (_name, options, setting) => {
    const start = inProduction(() => startSite({ sequencer: { url: 'https://service.example' } }, options));
    await expect(start).rejects.toMatchObject({ code: 'invalid_configuration' });
    await expect(start).rejects.toThrow(`- ${setting}:`);
  });

  test('is rejected by createIntentClient, which speaks http only to this machine', () => {
    for (const url of ['http://service.example', 'http://127.0.0.1.example', 'http://10.0.0.1', 'ftp://localhost']) {
      expect(() => createIntentClient({ url })).toThrow(/^url must (?:be|use) /);
    }
  });
});

describe('redirect to http', () => {
  const folder = mkdtempSync(join(tmpdir(), 'express-intents-tls-'));
  const trusted = join(folder, 'ca.pem');
  let script = '';
  beforeAll(async () => {
    writeFileSync(trusted, localhostCertificate.cert);
    script = await compile(new URL('./support/call-service.ts', import.meta.url));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The outcomes of calls from a process that trusts the certificate. */
  async function call(urls: readonly string[], flags = ''): Promise<string[]> {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: trusted, NODE_OPTIONS: flags };
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...urls], { env });
    return stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  }

  test('is not followed, and an old version of TLS, another name and a missing TLS are rejected', async () => {
    const [plain, valid, redirecting] = [counting(), counting(), counting()];
    const plainPort = await listen(createPlainServer(plain));
    const validPort = await listen(createServer(localhostCertificate, valid));
    const redirects = [301, 302, 303, 307, 308].map((status) =>
      createServer(localhostCertificate, (req, res) => {
        redirecting.count += 1;
        req.resume();
        res.writeHead(status, { location: `http://localhost:${plainPort}/v1/api` }).end();
      }),
    );
    const old: TlsOptions = {
      ...localhostCertificate,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    };
    let oldConnections = 0;
    const oldServer = createTlsServer(old, (socket) => {
      oldConnections += 1;
      socket.destroy();
    });
    oldServer.on('tlsClientError', () => undefined);
    const oldUrl = `https://localhost:${await listen(oldServer)}`;
    const outcomes = await call([
      `https://localhost:${validPort}`,
      `https://127.0.0.1:${validPort}`,
      oldUrl,
      `https://localhost:${plainPort}`,
      ...(await Promise.all(redirects.map(async (server) => `https://localhost:${await listen(server)}`))),
    ]);
    expect(outcomes).toEqual([
      // Proof that the others are rejected because of their fault.
      'answered',
      'sequencer_unreachable',
      'sequencer_unreachable',
      'sequencer_unreachable',
      ...new Array(5).fill('sequencer_bad_status'),
    ]);
    expect([valid.count, redirecting.count, plain.count, oldConnections]).toEqual([1, 5, 0, 0]);
    // Proof that only the version was rejected.
    await call([oldUrl], '--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0');
    expect(oldConnections).toBeGreaterThan(0);
  });
});
