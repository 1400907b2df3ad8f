import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import express from 'express';
import { ConfigError, type ConfigProblem, createSigner, generateKeyPair, intentRouter } from '../../src/index.js';
import { serve } from '../support/sites/serve.js';

const key = generateKeyPair();
const oldKey = generateKeyPair();
const destination = generateKeyPair().publicKey;
const url = 'https://sequencer.example';

describe('intentRouter', () => {
  const logged: string[] = [];
  const logger = {
    warn: (message: string) => void logged.push(message),
    error: (message: string) => void logged.push(message),
  };
  const options = { sequencer: { url }, login: { verifierSecret: key.secret, domain: 'shop.example' }, logger };
  const routerProblems = (more: object): readonly ConfigProblem[] => {
    const error = errorOf(() => intentRouter({ ...options, ...more }));
    return error instanceof ConfigError ? error.problems : [];
  };
  beforeAll(() => {
    // intentRouter reads the process environment, which here is this file's own copy.
    for (const name of Object.keys(process.env)) if (name.startsWith('INTENT_')) delete process.env[name];
  });
  beforeEach(() => logged.splice(0));

  it('reports unknown options, wrong types and invalid values together, and starts nothing', () => {
    const problems = routerProblems({
      domian: 'x',
      payment: 'free',
      secret: 5,
      logger: {},
      sequencer: { url: 'nonsense' },
      clientAmount: { min: 2, max: 1, currency: 'usd' },
    });
    expect(problems.map(({ setting, problem }) => `${setting}: ${problem}`)).toEqual([
      'secret: It must be a string.',
      'payment: It must be a function.',
      'logger: It must be an object with the methods warn and error, or false.',
      'domian: Unknown option "domian".',
      'sequencer.url: It is not an http(s) URL.',
      'clientAmount: min is greater than max.',
    ]);
  });

  it.each<[string, object, string]>([
    ['login', { login: () => undefined }, 'login'],
    ['simulator', { simulator: [] }, 'simulator'],
    ['simulator.port', { simulator: { port: '4747' } }, 'simulator.port'],
    ['ledger.migrate', { ledger: { migrate: 'no' } }, 'ledger.migrate'],
    [
      'ledger.hookLimits.maxAttempts',
      { ledger: { hookLimits: { maxAttempts: null } } },
      'ledger.hookLimits.maxAttempts',
    ],
  ])('rejects a wrong type of %s: %j', (_name, wrong, setting) => {
    expect(routerProblems({ ...options, ...wrong } as never).map((problem) => problem.setting)).toEqual([setting]);
  });

  it('warns about a variable with a typo in its name', () => {
    process.env.INTENT_DESTINATON = destination;
    intentRouter(options);
    delete process.env.INTENT_DESTINATON;
    expect(logged).toContainEqual(
      expect.stringMatching(/INTENT_DESTINATON is set.* If you mean INTENT_DESTINATION, rename it\.$/),
    );
  });

  it('reads options that are inherited from a class, and no other member', async () => {
    const signer = createSigner(key.secret);
    class Options {
      secret = 's'.repeat(32);
      sequencer = { url };
      logger = options.logger;
      login = {
        domain: 'shop.example',
        signer: {
          publicKey: signer.publicKey,
          sign: (bytes: Uint8Array) => signer.sign(bytes),
          get privateKey(): never {
            throw new Error('never leaves the HSM');
          },
        },
      };
      payment() {
        return { amount: 1, currency: 'usd' };
      }
    }
    const router = intentRouter(new Options());
    await router.close();
    expect(logged.join()).toContain('INTENT_DESTINATION is not set');
  });

  it.each([[null], ['simulator'], [5]])('rejects %j as options', (wrong) => {
    expect(() => intentRouter(wrong as never)).toThrow(/must be an object/);
  });

  it('rejects app.use(intentRouter) without a call', () => {
    const request = new IncomingMessage(new Socket());
    expect(() => intentRouter(request as object)).toThrow('app.use(intentRouter())');
  });

  it('warns when payments have no destination unless their terms name one', async () => {
    const router = intentRouter({ ...options, payment: () => ({ amount: 1, currency: 'usd' }) });
    await router.close();
    expect(logged.join()).toContain(
      'INTENT_DESTINATION is not set. Set it to the account that receives the payments. Ignore this warning if the `payment` hook always returns `destination`.',
    );
  });

  it.each(['onPaid', 'onReversed', 'verifyPayment', 'onDeadLetter'])('rejects %s without a ledger', (hook) => {
    expect(routerProblems({ [hook]: () => {} })).toEqual([
      {
        setting: hook,
        problem: 'This hook needs a ledger, and no database is set.',
        fix:
          'INTENT_DATABASE_URL=./ledger for one process (npm install @electric-sql/pglite), or ' +
          'INTENT_DATABASE_URL=postgres://... for any number of processes (npm install pg)',
      },
    ]);
  });

  it('suggests only fixes that production accepts', () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      const [{ fix = '' } = {}] = routerProblems({ onPaid: () => {} }).filter(({ setting }) => setting === 'onPaid');
      expect(fix).toBe('INTENT_DATABASE_URL=postgres://user:password@host:5432/database (npm install pg)');
    } finally {
      process.env.NODE_ENV = before;
    }
  });

  it('accepts options of every kind', async () => {
    const router = intentRouter({
      ...options,
      simulator: { port: 4747, stateFile: 'memory' },
      sequencer: { url, dialect: 'messaging', timeoutMs: 100 },
      destination,
      origin: 'https://shop.example',
      secret: 's'.repeat(32),
      login: {
        ttlMs: 1,
        confirm: true,
        sessionTtlMs: 1,
        domain: 'shop.example',
        verifierSecret: key.secret,
        signer: createSigner(oldKey.secret),
      },
      ledger: { watch: { unpaidMs: 1, settledMs: 0 }, hookLimits: { maxAttempts: 1, timeoutMs: 1 } },
      routes: {},
      payment: () => ({ amount: 1, currency: 'usd' }),
      onCreated: () => {},
      testClock: Date.now,
    });
    await router.ready();
    await router.close();
    await router.close();
  });

  it('logs its notices once, at startup', async () => {
    const router = intentRouter({ sequencer: { url: 'simulator' }, simulator: { port: 0 }, logger });
    await router.ready();
    await router.close();
    expect(logged).toEqual([
      expect.stringMatching(/^express-intents: INTENT_VERIFIER_SECRET is not set/),
      expect.stringMatching(/^express-intents: INTENT_DOMAIN is not set/),
    ]);
  });

  it('rejects ready() with the variable to set when the port of the simulator is in use, and answers requests with 5xx', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const simulator = { port: (other.address() as AddressInfo).port };
    const payment = () => ({ amount: 1, currency: 'usd' });
    const router = intentRouter({ sequencer: { url: 'simulator' }, simulator, payment, logger });
    const app = express().use(router);
    app.get('/', (_req, res) => void res.send('still here'));
    const origin = await serve(app);
    const headers = { 'content-type': 'application/json', origin };
    for (const body of ['{"mode":"payment"}', '{"mode":"payment"}']) {
      const response = await fetch(`${origin}/intent`, { method: 'POST', headers, body });
      expect(response.status).toBeGreaterThanOrEqual(500);
      expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      // The configuration of the site is not revealed to the browser.
      expect(await response.text()).not.toMatch(/port/i);
    }
    await expect(router.ready()).rejects.toThrow(
      /INTENT_SIMULATOR_PORT, or the option simulator\.port, to a free port: INTENT_SIMULATOR_PORT=\d+$/,
    );
    expect(await (await fetch(origin)).text()).toBe('still here');
    expect(logged.join('\n')).toMatch(/^express-intents: .*INTENT_SIMULATOR_PORT/m);
    await router.close();
    await new Promise((resolve) => other.close(resolve));
  });

  it('keeps the process alive when that port is in use and ready() is not called', async () => {
    const index = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
    const script = `
      import { createServer } from 'node:http';
      import { intentRouter } from ${JSON.stringify(index)};
      const other = createServer().listen(0, '127.0.0.1', () => {
        const report = () => setTimeout(() => other.close(() => console.log('still running')), 50);
        const logger = { warn: console.error, error: (line) => void (console.error(line), report()) };
        intentRouter({ sequencer: { url: 'simulator' }, simulator: { port: other.address().port }, logger });
      });`;
    const { NODE_ENV: _, ...variables } = process.env;
    const args = ['--input-type=module', '-e', script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: variables, timeout: 30_000 });
    expect(stdout).toBe('still running\n');
    expect(stderr).toMatch(/^express-intents: .*INTENT_SIMULATOR_PORT/m);
  });
});

describe('docs/reference.md', () => {
  const page = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8');
  const section = page.split(/^## /m).find((one) => one.startsWith('Options\n')) ?? '';
  const validNames = (options: object): string[] =>
    (/Valid options: ([^.]+)\./.exec(errorOf(() => intentRouter(options)).message)?.[1] ?? '').split(/,\s+/);
  const groups = ['sequencer', 'simulator', 'login', 'ledger', 'limits', 'button', 'webhook'];
  const members = (group: string) =>
    validNames({ [group]: { 'no such option': 1 } }).flatMap((name) => {
      const inner = validNames({ [group]: { [name]: { 'no such option': 1 } } }).filter((one) => one !== '');
      return inner.length > 0 ? inner.map((one) => `${name}.${one}`) : [name];
    });

  it.each([...groups, 'Hooks and other options'])('lists each option of %s once', (group) => {
    const text = section.split(/^### /m).find((one) => one.startsWith(`${group}\n`)) ?? '';
    const listed = [...text.matchAll(/^\| `([\w.]+)[^`]*` \|/gm)].map(([, name]) => name);
    const expected = groups.includes(group)
      ? members(group)
      : validNames({ 'no such option': 1 }).filter((name) => !groups.includes(name));
    expect(listed.sort()).toEqual(expected.sort());
  });
});

function errorOf(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}
