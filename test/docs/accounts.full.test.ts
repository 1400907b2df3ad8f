import { createRequire } from 'node:module';
import { transformSync } from '@swc/core';
import express, { type Express, type RequestHandler, type Router } from 'express';
import passport from 'passport';
import { Strategy } from 'passport-local';
import * as api from '../../src/index.js';
import { Browser } from '../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite } from '../support/sites/ledger-site.js';
import { domain } from '../support/sites/site.js';
import { blocksOf } from './guides.js';

// Runs the code of docs/accounts.md and docs/account-changes.md in a site with passport, passwords and express-session.

interface Guide {
  readonly walletLogin: (router: () => api.IntentRouter) => api.Hooks;
  readonly mount: (app: Express, router: api.IntentRouter, secret: string) => void;
  readonly walletRoutes: (router: api.IntentRouter) => Router;
  readonly mergeAccount: unknown;
}

const load = createRequire(import.meta.url);

const blocks = ['docs/accounts.md', 'docs/account-changes.md'].flatMap((guide) => blocksOf(guide));

/** The exports of all modules in the guide. */
function guideModules(edit: (text: string) => string = (text) => text): Guide {
  const modules = blocks.filter(({ info, text }) => info === 'ts' && /^import /m.test(text));
  return Object.assign({}, ...modules.map(({ text }) => evaluate(edit(text))));
}

/** The login of the guide with the lines of its section "Merge accounts". */
function mergingLogin(): Required<api.Hooks>['onLogin'] {
  const call = blocks.find(({ info, text }) => info === 'ts plain' && text.includes('mergeAccount'))?.text ?? '';
  const edited = guideModules((text) => text.replace(/^.*insert into wallets values.*$/m, `${call}$&`));
  const { onLogin } = edited.walletLogin(() => site.router);
  if (!onLogin || !call) throw new Error('The guide has no call of mergeAccount.');
  Object.assign(globalThis, { mergeAccount: edited.mergeAccount }); // the guide defines it in another module
  return onLogin;
}

function evaluate(text: string): object {
  const { code } = transformSync(text, {
    module: { type: 'commonjs' },
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  });
  const exports = {};
  const required = (name: string): unknown => (name === 'express-intents' ? api : load(name));
  new Function('require', 'exports', code)(required, exports);
  return exports;
}

const createWallets = blocks.find(({ text }) => text.includes('create table'))?.text ?? '';
const { walletLogin, mount, walletRoutes } = guideModules();
const hooks = walletLogin(() => site.router);

/** A session with a basket, and the account that is logged in. */
const ownRoutes = (app: Express): void => {
  app.get('/account', (req, res) => {
    const { basket, linking } = req.session as { basket?: string; linking?: object };
    res.json({
      account: (req.user as { id: string } | undefined)?.id ?? null,
      basket: basket ?? null,
      isLinking: linking !== undefined,
    });
  });
  app.post('/log-out', (req, res, next) => {
    const keepSessionInfo = 'keep' in req.query;
    req.logout({ keepSessionInfo }, (error) => (error ? next(error) : res.json({})));
  });
  app.post('/fill', (req, res) => {
    Object.assign(req.session, { basket: 'tea' });
    res.json({});
  });
  app.post(
    '/password',
    express.json(),
    passport.authenticate('local') as RequestHandler,
    (_req, res) => void res.json({}),
  );
};

let site: LedgerSite;
let isFailing = false;
let isMerging = false;
const onMergingLogin = mergingLogin();

describe.each(kinds)('with an account table in the %s database', (kind) => {
  beforeAll(async () => {
    // `mount` mounts the router. `startLedgerSite` creates it and mounts it next, so this one only passes requests on.
    const passOn: RequestHandler = (_req, _res, next) => next();
    const router = Object.defineProperty(passOn, 'database', { get: () => site.router.database });
    site = await startLedgerSite({ ledger: { url: await newDatabaseUrl(kind) } }, hooks, {
      onLogin: (...args) => (isMerging ? onMergingLogin : hooks.onLogin)?.(...args),
      onSession: async (...args) => {
        await hooks.onSession?.(...args);
        if (isFailing) throw new Error('On purpose.');
      },
      login: { keepSession: ['basket'] },
      before: (app) => mount(app, router as api.IntentRouter, 'secret of the test'),
      after: (app) => {
        app.use((req, res, next) => walletRoutes(site.router)(req, res, next));
        ownRoutes(app);
      },
    });
    const { database } = site.router;
    await createTables('uuid default gen_random_uuid()', 'uuid');
    await database.query('create table orders (item text, user_id uuid not null references users (id))');
    const verify = (id: string, _password: string, done: (error: unknown, user: object) => void) => done(null, { id });
    passport.use(new Strategy({ usernameField: 'id', passwordField: 'password' }, verify));
  });

  /** Creates the table of accounts, and the one of the guide. */
  async function createTables(id: string, reference: string): Promise<void> {
    await site.router.database.query(`create table users (id ${id} primary key, password_hash text not null)`);
    const code = createWallets.replace('uuid', reference);
    await new Function('router', `return (async () => { ${code} })()`)(site.router);
  }

  beforeEach(async () => {
    isFailing = false;
    isMerging = false;
    await site.router.database.query('delete from wallets');
    await site.router.database.query('delete from users');
  });

  /** Creates an account. With a password it can log in without a wallet. */
  async function newAccount(hash: string | null = 'hash'): Promise<string> {
    const { rows } = await site.router.database.query('insert into users (password_hash) values ($1) returning id', [
      hash,
    ]);
    return String(rows[0]?.id);
  }

  /** Logs in with the password, which gives the browser a new session. */
  async function withPassword(account: string, browser = new Browser(site.origin)): Promise<Browser> {
    expect((await browser.send('POST', '/password', { id: account, password: 'any' })).status).toBe(200);
    return browser;
  }

  /** Begins a login or the linking of a wallet, which the wallet confirms. */
  async function confirm(browser: Browser, wallet: string, how?: 'link') {
    const order = how && { linkTo: String(await accountOf(browser)) };
    const { body } = await browser.send('POST', '/intent', { mode: 'login', order });
    const secret = String(body.client_secret);
    await site.simulator.wallet(wallet).login(secret);
    return intentIdOf(secret);
  }

  const complete = (browser: Browser, id: string) => browser.send('POST', '/session', { id });
  const accountOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/account')).body.account;
  const walletOf = (name: string): string => site.simulator.wallet(name).userId(domain);
  const unlink = (browser: Browser, wallet: string, headers?: Record<string, string>) =>
    browser.send('POST', `/account/wallets/${walletOf(wallet)}/unlink`, undefined, headers);
  const countOf = async (table: string): Promise<number> =>
    (await site.router.database.query(`select from ${table}`)).rowCount;

  async function logIn(wallet: string, how?: 'link', browser = new Browser(site.origin)): Promise<Browser> {
    expect((await complete(browser, await confirm(browser, wallet, how))).status).toBe(200);
    return browser;
  }

  describe('a login with a wallet', () => {
    test('creates an account once, and keeps the basket', async () => {
      const browser = new Browser(site.origin);
      await browser.send('POST', '/fill');
      await logIn('Ada', undefined, browser);
      const { account, basket } = (await browser.send('GET', '/account')).body;
      expect([account, basket]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), 'tea']);
      expect(await accountOf(await logIn('Ada'))).toBe(account);
      expect(await accountOf(await logIn('Ben'))).not.toBe(account);
      expect([await countOf('users'), await countOf('wallets')]).toEqual([2, 2]);
    });

    test('of a new wallet in several browsers at the same time creates one account', async () => {
      const before = await countOf('users');
      const browsers = [1, 2, 3].map(() => new Browser(site.origin));
      const ids = await Promise.all(browsers.map((browser) => confirm(browser, 'Mia')));
      const found = await Promise.all(browsers.map((browser, n) => complete(browser, ids[n] ?? '')));
      expect(found.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await countOf('users')).toBe(before + 1);
    });

    test('whose response was lost is repeated in the same account', async () => {
      const browser = new Browser(site.origin);
      await browser.send('POST', '/fill');
      const id = await confirm(browser, 'Ada');
      const again = new Browser(site.origin, browser.cookies);
      const key = { 'idempotency-key': 'attempt' };
      expect((await browser.send('POST', '/session', { id }, key)).status).toBe(200);
      expect((await again.send('POST', '/session', { id }, key)).status).toBe(200);
      expect([await accountOf(again), await countOf('users')]).toEqual([await accountOf(browser), 1]);
    });

    test('links nothing in the session of an account, also of one that has begun to link', async () => {
      const mallory = await newAccount();
      // The attacker places this session in the browser of the victim.
      const attacker = await withPassword(mallory);
      await confirm(attacker, 'Mia', 'link');
      expect((await attacker.send('GET', '/account')).body).toMatchObject({ account: mallory, isLinking: true });
      const victim = await logIn('Ada', undefined, new Browser(site.origin, attacker.cookies));
      expect(await accountOf(victim)).not.toBe(mallory);
      expect(await accountOf(await logIn('Ada'))).toBe(await accountOf(victim));
    });
  });

  describe('the button "Link a wallet"', () => {
    test('links a wallet to the account that is logged in, which the wallet then logs in to', async () => {
      const account = await newAccount();
      const browser = await logIn('Ada', 'link', await withPassword(account));
      expect((await browser.send('GET', '/account')).body).toMatchObject({ account, isLinking: false });
      expect(await accountOf(await logIn('Ada'))).toBe(account);
      expect(await countOf('users')).toBe(1);
    });

    test('is refused for a wallet of another account, which changes nothing', async () => {
      const owner = await accountOf(await logIn('Ada'));
      const account = await newAccount();
      const browser = await withPassword(account);
      const { status, body } = await complete(browser, await confirm(browser, 'Ada', 'link'));
      expect([status, body.detail]).toEqual([403, 'This wallet belongs to another account.']);
      expect(await accountOf(browser)).toBe(account);
      expect(await accountOf(await logIn('Ada'))).toBe(owner);
    });

    test('merges an account without a password, with the lines of the guide', async () => {
      isMerging = true;
      const elsewhere = await logIn('Ben', 'link', await logIn('Ada'));
      const merged = await accountOf(elsewhere);
      await site.router.database.query("insert into orders values ('tea', $1)", [merged]);
      const account = await newAccount();
      await logIn('Ada', 'link', await withPassword(account));
      const { rows } = await site.router.database.query('select item from orders where user_id = $1', [account]);
      expect(rows).toEqual([{ item: 'tea' }]);
      expect([await accountOf(elsewhere), await accountOf(await logIn('Ben'))]).toEqual([null, account]);
      expect([await countOf('users'), await countOf('wallets')]).toEqual([1, 2]);
      await site.router.database.query('delete from orders');
    });

    test('merges no account with a password, and no account in a login that links nothing', async () => {
      isMerging = true;
      const owner = await newAccount();
      await logIn('Ada', 'link', await withPassword(owner));
      const browser = await withPassword(await newAccount());
      expect((await complete(browser, await confirm(browser, 'Ada', 'link'))).status).toBe(403);
      const walletOnly = await accountOf(await logIn('Ben'));
      expect(await accountOf(await logIn('Ben', undefined, browser))).toBe(walletOnly);
      expect([await countOf('users'), await countOf('wallets')]).toEqual([3, 2]);
    });

    test('names an account: that of an old page is rejected, also after a logout', async () => {
      const [first, second] = [await newAccount(), await newAccount()];
      const browser = await withPassword(first);
      const begin = async (linkTo: unknown = first) => {
        const { status, body } = await browser.send('POST', '/intent', { mode: 'login', order: { linkTo } });
        return [status, body.detail];
      };
      const rejected = [403, 'You have left this account. Reload this page.'];
      expect(await begin()).toEqual([201, undefined]);
      await withPassword(second, browser);
      expect(await begin()).toEqual(rejected);
      for (const other of [[second], { id: second }, null, '']) expect(await begin(other)).toEqual(rejected);
      await browser.send('POST', '/log-out');
      for (const other of [first, 'undefined', 'null', null]) expect(await begin(other)).toEqual(rejected);
      expect([await accountOf(browser), await countOf('wallets')]).toEqual([null, 0]);
    });

    test('links nothing if the account changes before the wallet confirms', async () => {
      const [first, second] = [await newAccount(), await newAccount()];
      const browser = await withPassword(first);
      const id = await confirm(browser, 'Ada', 'link');
      await withPassword(second, browser);
      expect((await complete(browser, id)).status).toBe(200);
      expect([first, second]).not.toContain(await accountOf(browser));
    });
  });

  describe('unlinking', () => {
    test('ends the sessions of the wallet, and keeps the others', async () => {
      const account = await newAccount();
      const password = await withPassword(account);
      const here = await logIn('Ada', 'link', await withPassword(account));
      const elsewhere = await logIn('Ada');
      expect((await unlink(here, 'Ada')).status).toBe(303);
      expect([await accountOf(here), await accountOf(elsewhere), await accountOf(password)]).toEqual([
        null,
        null,
        account,
      ]);
      expect((await here.send('GET', '/session')).body).toEqual({ user: null });
      // The router knows only the wallet.
      expect((await elsewhere.send('GET', '/session')).body).toMatchObject({ user: { id: walletOf('Ada') } });
      expect(await accountOf(await logIn('Ada'))).not.toBe(account);
    });

    test('of the last way to log in is refused', async () => {
      const browser = await logIn('Ada');
      expect((await unlink(browser, 'Ada')).status).toBe(409);
      expect(await accountOf(browser)).not.toBeNull();
      await logIn('Ben', 'link', browser);
      expect((await unlink(browser, 'Ada')).status).toBe(303);
      expect((await unlink(browser, 'Ben')).status).toBe(409);
    });

    test('of the last two wallets at the same time leaves one', async () => {
      const browser = await logIn('Ben', 'link', await logIn('Ada'));
      const answers = await Promise.all([unlink(browser, 'Ada'), unlink(browser, 'Ben')]);
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
      expect(await countOf('wallets')).toBe(1);
    });

    test('is rejected from other sites and without an account', async () => {
      const browser = await logIn('Ben', 'link', await logIn('Ada'));
      expect((await unlink(browser, 'Ada', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await unlink(new Browser(site.origin), 'Ada')).status).toBe(401);
      expect(await countOf('wallets')).toBe(2);
    });
  });
});
