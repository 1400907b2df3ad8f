import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWallet } from 'express-intents/testing';
import { copyEmptyData } from '../support/databases/embedded-template.js';
import { eventually } from '../support/eventually.js';
import { ConsumerProject, type Ended, root } from './consumer-project.js';

let project: ConsumerProject;

beforeAll(async () => {
  project = await ConsumerProject.create();
});
afterAll(() => project.remove());

describe('docs/examples/first-site', () => {
  const options = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: ['node'],
    outDir: 'out',
  };

  function compile(name: string, files: string[]): Promise<Ended> {
    project.write(name, JSON.stringify({ compilerOptions: options, files }));
    return project.node([join(root, 'node_modules/typescript/bin/tsc'), '-p', name]);
  }

  beforeAll(async () => {
    await copyEmptyData(project.path('ledger/data'));
    project.link('@types/node');
  });

  // The same source: as .cts it is compiled to require().
  it.each([
    ['import', 'site.mts', 'out/site.mjs', /^import .* from 'express-intents';$/m],
    ['require', 'site.cts', 'out/site.cjs', /= require\("express-intents"\)/],
  ])('works with %s: it compiles and serves (interface 4.6, 4.7)', async (_way, source, compiled, loading) => {
    // TypeScript requires a check of what a browser sends.
    const code = readFileSync(join(root, 'docs/examples/first-site/app.js'), 'utf8');
    project.write(source, code.replace('req.body.order', '(req.body as { order: string }).order'));
    expect(await compile(`tsconfig.${source}.json`, [source])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(project.path(compiled), 'utf8')).toMatch(loading);
    // Both use one folder, which is reopened after a kill.
    const ledger = { INTENT_DATABASE_URL: './ledger' };
    const environment = { INTENT_SEQUENCER_URL: 'simulator', INTENT_SIMULATOR_PORT: '0', PORT: '0', ...ledger };
    const { origin, simulator, kill } = await project.startSite([compiled], environment);
    try {
      await checkSite(origin);
      await buyTea(origin, simulator);
    } finally {
      kill();
    }
  });

  it('has complete types: wrong code does not compile', async () => {
    project.write('types.mts', typedProgram);
    project.write('types.cts', typedProgram);
    expect(await compile('tsconfig.types.json', ['types.mts', 'types.cts'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });
});

describe('an import', () => {
  beforeAll(() => {
    project.write(
      'log-loads.mjs',
      `import { register } from 'node:module'; register('./load-hooks.mjs', import.meta.url);`,
    );
    project.write(
      'load-hooks.mjs',
      `import { appendFileSync } from 'node:fs';
      export async function load(url, context, next) {
        appendFileSync(process.env.LOADS, url + '\\n');
        return next(url, context);
      }`,
    );
  });

  /** All files that an import of an entry loads, by import or require. */
  async function loadedBy(entry: string): Promise<string[]> {
    const log = project.path(`loads-${entry.replaceAll('/', '-')}.txt`);
    project.write(
      'load.mjs',
      `import { createRequire } from 'node:module';
      await import(process.argv[2]);
      console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`,
    );
    const args = ['--import', './log-loads.mjs', 'load.mjs', entry];
    const { code, stdout, stderr } = await project.node(args, { LOADS: log });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const required = JSON.parse(stdout) as string[];
    return [...readFileSync(log, 'utf8').split('\n'), ...required];
  }

  /** Our modules in the loaded files, from their source maps: the build bundles several into a file. */
  function modulesIn(loaded: readonly string[]): string[] {
    const maps = loaded
      .flatMap((path) => /express-intents\/(dist\/.*)/.exec(path)?.[1] ?? [])
      .map((file) => join(root, `${file}.map`))
      .filter((map) => existsSync(map));
    return [...new Set(maps)].flatMap((map) =>
      (JSON.parse(readFileSync(map, 'utf8')).sources as string[]).map((source) => source.replace('../src/', '')),
    );
  }

  const simulator = /^simulator\//;
  const express = /node_modules\/express\//;
  const databases = /node_modules\/(?:pg|@electric-sql)\//;

  it.each(['express-intents', 'express-intents/client'])(
    'of %s loads neither the simulator nor Express nor a database',
    async (entry) => {
      const loaded = await loadedBy(entry);
      expect(loaded.filter((path) => express.test(path) || databases.test(path))).toEqual([]);
      const modules = modulesIn(loaded);
      expect(modules.filter((name) => simulator.test(name))).toEqual([]);
      expect(modules).toContain('sequencer/intent-client.ts');
    },
  );

  // The time is not measured: the list of packages is deliberate, and a file costs half a millisecond.
  it('of express-intents loads only these packages, and few files of its own', async () => {
    const loaded = [...new Set(await loadedBy('express-intents'))];
    const packages = loaded.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(packages)].filter((name) => name !== 'express-intents').sort()).toEqual([
      'base-x',
      'bs58',
      'cookie',
      'helmet',
      'long',
      'protobufjs',
    ]);
    expect(loaded.filter((path) => path.includes('express-intents/dist/')).length).toBeLessThan(6);
  });

  it('of express-intents/client loads nothing of the routes, of the configuration or of their dependencies', async () => {
    const loaded = await loadedBy('express-intents/client');
    expect(loaded.filter((path) => /node_modules\/(?:zod|jose|helmet|cookie)\//.test(path))).toEqual([]);
    expect(modulesIn(loaded).filter((name) => /^(?:http|ledger|config)\b/.test(name))).toEqual([]);
  });

  it('of express-intents/testing loads both, which proves the checks above', async () => {
    const loaded = await loadedBy('express-intents/testing');
    expect(modulesIn(loaded).some((name) => simulator.test(name))).toBe(true);
    expect(loaded.some((path) => express.test(path))).toBe(true);
  });

  it('of a file that is not an entry fails', async () => {
    project.write('deep.mjs', `await import('express-intents/dist/config/config.js');`);
    expect((await project.node(['deep.mjs'])).stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('and a require return the same objects, without a warning', async () => {
    project.write(
      'same.cjs',
      `(async () => {
        for (const entry of ['express-intents', 'express-intents/client', 'express-intents/testing']) {
          const required = require(entry);
          const imported = await import(entry);
          for (const name of Object.keys(imported)) if (required[name] !== imported[name]) throw new Error(name);
          console.log(entry, Object.keys(imported).length > 0);
        }
        console.log(require('express-intents/package.json').name);
      })();`,
    );
    expect(await project.node(['same.cjs'])).toEqual({
      code: 0,
      stdout: 'express-intents true\nexpress-intents/client true\nexpress-intents/testing true\nexpress-intents\n',
      stderr: '',
    });
  });
});

it('the installed command runs', async () => {
  const { code, stdout } = await project.node(['node_modules/express-intents/dist/cli.js', 'keygen']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^INTENT_VERIFIER_SECRET=\w+$/m);
});

/** Pays, and waits for the confirmation, which needs the row of the order. */
async function buyTea(origin: string, sequencer: string): Promise<void> {
  const headers = { 'content-type': 'application/json', origin };
  const created = await fetch(`${origin}/intent`, { method: 'POST', headers, body: '{"order":"tea"}' });
  const { client_secret: secret } = (await created.json()) as { client_secret: string };
  const { id } = await createWallet({ url: sequencer, name: 'Ada' }).pay(secret);
  const thanks = async (): Promise<string> => (await fetch(`${origin}/thanks/${id}`)).text();
  await eventually(async () => expect(await thanks()).toBe('Paid. Thank you! Your order: tea.'));
}

async function checkSite(origin: string): Promise<void> {
  const keyFile = await fetch(`${origin}/.well-known/service-payments.json`);
  expect(keyFile.status).toBe(200);
  expect(await keyFile.json()).toEqual({ public_keys: [expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)] });

  for (const intent of [{ mode: 'payment', order: 'tea' }, { mode: 'login' }]) {
    const created = await fetch(`${origin}/intent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(intent),
    });
    expect({ intent, status: created.status, body: await created.json() }).toEqual({
      intent,
      status: 201,
      body: { client_secret: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{20,28}$/) },
    });
  }

  const account = await fetch(`${origin}/account`);
  expect(account.status).toBe(401);
  expect(await account.json()).toMatchObject({ code: 'login_required' });
}

const typedProgram = `
import express from 'express';
import {
  ConfigError, type ConfigOptions, createIntentClient, createSigner, currentUser, generateKeyPair, IntentError,
  type IntentErrorCode, type AcceptedIntent, intentRouter, type IntentRouterOptions, type IntentStatus, requireLogin,
  SequencerError, type Signer, type Transport,
} from 'express-intents';
import { createIntentClient as createFromClient, type IntentClient } from 'express-intents/client';
import { createWallet, type Simulator, startSimulator, type Wallet } from 'express-intents/testing';

const options: IntentRouterOptions = {
  payment: async (req) => ({ amount: '1.00', currency: 'usd', metadata: { path: req.path } }),
  onCreated: (intent: AcceptedIntent) => { if (intent.kind === 'payment') intent.amount satisfies string | number; },
};
const router = intentRouter(options);
express().use(router).get('/account', requireLogin({ loginUrl: '/login' }), async (req, res) => {
  req.intent.user.id satisfies string;
  (await currentUser(req))?.id satisfies string | undefined;
  res.end();
});

export async function use(client: IntentClient, signal: AbortSignal): Promise<void> {
  const terms = { destination: 'x', amount: 1, currency: 'usd' };
  const { id, clientSecret } = await client.paymentIntents.create(terms, { signal });
  [id, clientSecret] satisfies string[];
  const status: IntentStatus = await client.paymentIntents.getStatus(id);
  status.intentSubmitted satisfies boolean;
  const signer: Signer = createSigner(generateKeyPair().secret);
  const { userId } = await client.loginIntents.getUserId({ intent: id, verifier: signer });
  userId satisfies string;
  const simulator: Simulator = await startSimulator();
  const wallet: Wallet = createWallet({ url: simulator.url, name: 'Ada' });
  await wallet.pay(clientSecret);
}

export function codeOf(error: unknown): IntentErrorCode | undefined {
  if (error instanceof SequencerError) error.httpStatus satisfies number | undefined;
  if (error instanceof ConfigError) error.problems[0]?.fix satisfies string | undefined;
  return error instanceof IntentError ? error.code : undefined;
}

declare const transport: Transport;
createFromClient({ transport }) satisfies IntentClient;
createIntentClient({ url: 'https://sequencer.example', dialect: 'messaging' }) satisfies IntentClient;
const config: ConfigOptions = { login: false };
void config;

// @ts-expect-error An unknown option.
intentRouter({ domian: 'shop.example' });
// @ts-expect-error A payment has an amount.
intentRouter({ payment: () => ({ currency: 'usd' }) });
// @ts-expect-error An unknown dialect.
createIntentClient({ url: 'https://sequencer.example', dialect: 'grpc' });
// @ts-expect-error An amount is no boolean.
createIntentClient({ url: 'https://sequencer.example' }).paymentIntents.create({ destination: 'x', amount: true, currency: 'usd' });
// @ts-expect-error A login has signers.
createIntentClient({ url: 'https://sequencer.example' }).loginIntents.create({ login: { verifier: 'x', domain: 'y' } });
// @ts-expect-error An unknown code.
new IntentError('no_such_code');
`;
