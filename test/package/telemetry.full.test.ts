import { join } from 'node:path';
import { ConsumerProject, type Ended, root } from './consumer-project.js';

// Tests with and without OpenTelemetry.

let project: ConsumerProject;

/** Creates a router, answers one request, and prints its status and whether the API was loaded. */
const program = `
  import { createRequire } from 'node:module';
  import express from 'express';
  import { intentRouter } from 'express-intents';
  const given = JSON.parse(process.env.GIVEN ?? '{}');
  const transport = { call: async () => Uint8Array.of(8, 1), close: async () => undefined };
  const router = intentRouter({
    ...{ login: false, sequencer: { transport }, destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR' },
    button: { walletUrl: 'https://wallet.example/open' },
    payment: () => ({ amount: 5, currency: 'usd' }),
    onEvent: given.listens ? (event) => console.log(event.type) : undefined,
    telemetry: given.telemetry,
  });
  const server = express().use(router).listen(0, '127.0.0.1', async () => {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const address = 'http://127.0.0.1:' + server.address().port + '/intent';
    const { status } = await fetch(address, { method: 'POST', headers, body: '{}' });
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /opentelemetry/.test(path));
    console.log(JSON.stringify({ status, isLoaded: loaded.length > 0 }));
    await router.close();
    server.close();
  });`;

beforeAll(async () => {
  project = await ConsumerProject.create();
  project.write('shop.mjs', program);
  for (const types of ['@types/express', '@types/node']) project.link(types);
});
afterAll(() => project.remove());

const run = (given: object): Promise<Ended> => project.node(['shop.mjs'], { GIVEN: JSON.stringify(given) });

describe('without @opentelemetry/api', () => {
  beforeAll(() => project.unlink('@opentelemetry/api'));
  afterAll(() => project.link('@opentelemetry/api'));

  it('a router works without telemetry and without a warning', async () => {
    expect(await run({})).toEqual({ code: 0, stdout: '{"status":201,"isLoaded":false}\n', stderr: '' });
  });

  it('a listener receives events', async () => {
    const { code, stdout, stderr } = await run({ listens: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n').sort()).toEqual([
      'intent_created',
      'upstream_call',
      '{"status":201,"isLoaded":false}',
    ]);
  });

  it.each([[true], [{}]])('telemetry: %j is rejected at startup, with the package to install', async (telemetry) => {
    const { code, stderr } = await run({ telemetry });
    expect(code).toBe(1);
    expect(stderr).toContain('telemetry: The package @opentelemetry/api is not installed.');
    expect(stderr).toContain('npm install @opentelemetry/api');
  });

  it('the types compile, including those of libraries', async () => {
    project.write(
      'events.mts',
      `import { intentRouter, type RouterEvent } from 'express-intents';
      const describe = (event: RouterEvent): string => {
        if (event.type === 'payment_settled') return event.amount + event.currency;
        // @ts-expect-error An unknown event.
        if (event.type === 'payment_setled') return '';
        return event.type + event.atMs;
      };
      intentRouter({ onEvent: (event) => console.log(describe(event)), telemetry: { tracerProvider: { getTracer: () => ({}) } } });`,
    );
    const options = {
      ...{ module: 'nodenext', target: 'es2022', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
      ...{ types: ['node'], noEmit: true },
    };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['events.mts'] }));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    expect(await project.node([compiler, '-p', 'tsconfig.json'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('with @opentelemetry/api', () => {
  it.each([[{}], [{ telemetry: true }]])('the API is not loaded while no SDK is registered: %j', async (given) => {
    expect(await run(given)).toEqual({ code: 0, stdout: '{"status":201,"isLoaded":false}\n', stderr: '' });
  });
});
