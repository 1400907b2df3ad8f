import * as http from 'node:http';
import path from 'node:path';
import express, { type Express } from 'express';
import request from 'supertest';
import { createServer } from '../../src/http/create-server.js';
import { type IntentRouter, intentRouter } from '../../src/router/intent-router.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/network/nginx.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { post } from '../support/sites/post.js';
import { serve } from '../support/sites/serve.js';
import { destination, domain, LogRecorder, verifierSecret } from '../support/sites/site.js';

const keyFile = '/.well-known/service-payments.json';
const routers: IntentRouter[] = [];
const servers: http.Server[] = [];
afterAll(async () => {
  for (const router of routers.splice(0)) await router.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function routerWithSimulator(
  options: object = {},
): Promise<{ router: IntentRouter; log: LogRecorder; url: string }> {
  const log = new LogRecorder();
  const payment = () => ({ amount: 5, currency: 'usd' });
  const given = { login: { verifierSecret, domain }, destination, payment, logger: log, ...options };
  const router = intentRouter({ sequencer: { url: 'simulator' }, simulator: { port: 0 }, ...given });
  routers.push(router);
  const { walletUrl = '' } = (await router.ready()) ?? {};
  return { router, log, url: walletUrl };
}

async function listen(server: http.Server, at: string | number): Promise<http.Server> {
  servers.push(server);
  await new Promise<void>((resolve) =>
    server.listen(typeof at === 'string' ? { path: at } : { port: at, host: '127.0.0.1' }, resolve),
  );
  return server;
}

const serveTls = (app: Express) => listen(createServer(app, { tls: localhostCertificate }), 0);

const createOver = (server: http.Server, mode: string) =>
  request(server).post('/intent').trustLocalhost().set('Sec-Fetch-Site', 'same-origin').send({ mode });

describe('a site with the simulator', () => {
  test('creates logins over local https with a self-signed certificate', async () => {
    const { router } = await routerWithSimulator();
    const server = await serveTls(express().use(router));
    await createOver(server, 'login').expect(201);
  });

  test('receives webhook calls over local https', async () => {
    const { router, url } = await routerWithSimulator({ webhook: true });
    const statuses: number[] = [];
    const app = express().use('/intent/webhook', (_req, res, next) => {
      res.on('finish', () => statuses.push(res.statusCode));
      next();
    });
    const server = await serveTls(app.use(router));
    const { body } = await createOver(server, 'payment').expect(201);
    await request(url).post('/api/confirm').send({ wallet: 'Ada', code: body.client_secret }).expect(200);
    await eventually(() => expect(statuses).toEqual([200]));
  });

  test('creates logins on a Unix socket, and logs that it has no webhook', async () => {
    const { router, log } = await routerWithSimulator({ webhook: true });
    const socketPath = path.join(temporaryFolder(), 'site.sock');
    await listen(http.createServer(express().use(router)), socketPath);
    await post(`http+unix://${encodeURIComponent(socketPath)}`)
      .send({ mode: 'login' })
      .expect(201);
    expect(log.text).toMatch(/webhook of \w+ was not registered: .*the site listens on a Unix socket\. /);
  });

  test.each([
    [201, 'with a route for the key file', (app: Express, router: IntentRouter) => app.get(keyFile, router)],
    [502, 'without a route for the key file', (app: Express) => app],
  ])('answers %i to a login behind a virtual host %s', async (status, _name, prepare) => {
    const { router, log } = await routerWithSimulator();
    const app = prepare(express(), router);
    app.use((req, res, next) => (req.hostname === 'shop.localhost' ? router(req, res, next) : next()));
    const answer = await post(await serve(app))
      .set('Host', 'shop.localhost')
      .send({ mode: 'login' });
    expect(answer.status).toBe(status);
    if (status === 502) expect(log.text).toMatch(/status 404, not 200\. Make sure .* with any Host header/);
  });

  test('refuses logins under a mount path, and logs the misplaced key file', async () => {
    const { router, log } = await routerWithSimulator();
    const origin = await serve(express().use('/shop', router));
    await post(origin, '/shop/intent').send({ mode: 'login' }).expect(502);
    expect(log.text).toMatch(/"\/shop".*root of the domain/s);
  });
});

test('a router on the port of another router of its process proposes the option, until the other router is closed', async () => {
  const simulator = { port: await freePort() };
  const first = await routerWithSimulator({ simulator });
  const sharedPort = 'Another router of this process has the same port. Set simulator: { port: ';
  await expect(routerWithSimulator({ simulator })).rejects.toThrow(sharedPort);
  await expect(routerWithSimulator({ simulator })).rejects.toThrow(
    'in one of them, or run `npx express-intents simulator`',
  );
  await first.router.close();
  await first.router.close();

  const other = await listen(http.createServer(), simulator.port);
  await expect(routerWithSimulator({ simulator })).rejects.toThrow('Set INTENT_SIMULATOR_PORT, or the option');
  await new Promise((resolve) => other.close(resolve));
  await routerWithSimulator({ simulator });
});
