import { type Hooks, refuse } from '../../src/index.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type SiteOptions, startSiteWithSimulator } from '../support/sites/site.js';

/** The details of a log line. */
const detailsOf = (line = ''): Record<string, string> => JSON.parse(line.slice(line.indexOf('{')));

async function startSite(options: SiteOptions) {
  const site = await startSiteWithSimulator(options);
  site.log.lines.length = 0;
  return { ...site, browser: new Browser(site.origin) };
}

function failInSite(): never {
  throw new Error('The orders are not available.');
}

describe('a hook that throws', () => {
  test.each<[string, SiteOptions, string]>([
    ['payment', { payment: () => failInSite() }, 'the payment hook failed'],
    [
      'payment with clientAmount',
      { payment: () => failInSite(), clientAmount: { min: 1, max: 2, currency: 'usd' } },
      'the payment hook failed',
    ],
    ['onCreated', { onCreated: () => failInSite() }, 'onCreated failed'],
  ])('%s is reported in one line, with the route and the line of the site', async (name, options, reported) => {
    const { browser, log } = await startSite(options);
    const { status, body } = await browser.send('POST', '/intent', name.includes('client') ? { amount: 1 } : {});
    expect([status, body.code]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toContain('orders');
    expect(log.lines).toHaveLength(1);
    expect(log.text).toMatch(new RegExp(`^error express-intents: ${reported} \\{`));
    expect(detailsOf(log.lines[0])).toMatchObject({
      ...{ route: 'POST /intent', code: 'internal_error', message: 'The orders are not available.' },
      ...{
        at: expect.stringMatching(/hook-errors\.test\.ts:\d+:\d+\)?$/),
        requestId: expect.any(String),
      },
    });
    expect(log.text).not.toContain('report it');
  });
});

describe('refuse()', () => {
  test.each<[string, unknown[]]>([
    ['a status of the server', ['No.', 503]],
    ['a status above 499', ['No.', 500]],
    ['swapped arguments', [404, 'No.']],
    ['a message that is not a string', [{ reason: 'No.' }, 404]],
  ])('with %s fails the hook, and the log names the error and the line of the site', async (_name, args) => {
    const { browser, log } = await startSite({ payment: () => (refuse as (...args: unknown[]) => never)(...args) });
    expect((await browser.send('POST', '/intent', {})).status).toBe(500);
    expect(log.text).toMatch(/^error express-intents: the payment hook failed \{/);
    expect(detailsOf(log.lines[0])).toMatchObject({
      at: expect.stringMatching(/hook-errors\.test\.ts:\d+:\d+\)?$/),
      message: 'refuse(message, status): the status must be 400 to 499, and the message a string.',
    });
  });

  test.each([[undefined], [400], [404], [499]])('with the status %p answers it, 400 by default', async (status) => {
    const { browser, log } = await startSite({ payment: () => refuse('No.', status) });
    const answer = await browser.send('POST', '/intent', {});
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([status ?? 400, 'request_refused', 'No.']);
    expect(log.lines).toEqual([]);
  });
});

test('an error outside the hooks and the code of the site asks to report it', async () => {
  const fault = new Error('A bug.');
  fault.stack = 'Error: A bug.\n    at parse (node:internal/x:1:1)';
  const { browser, log } = await startSite({
    sequencer: { transport: { call: () => Promise.reject(fault), close: async () => undefined } },
  });
  const { body } = await browser.send('GET', '/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
  expect(body.code).toBe('internal_error');
  expect(log.text).toMatch(
    /^error express-intents: internal_error\. This is a bug in express-intents\. Please report it\. /,
  );
});

test.each<[what: string, hook: Hooks['onLogin'], message: RegExp]>([
  [
    'a failed query that is not awaited',
    async (_user, _req, { tx }) => void tx?.query('select 1 / 0'),
    /and its error was caught or not awaited: division by zero\./,
  ],
  [
    'a constraint that fails at the commit',
    async (_user, _req, { tx }) => {
      await tx?.query('create table buyers (email text primary key)');
      await tx?.query('create table gifts (email text references buyers deferrable initially deferred)');
      await tx?.query(`insert into gifts values ('eve')`);
    },
    /"sqlState":"23503"/,
  ],
])('%s in onLogin is not reported as a bug in express-intents', async (_what, onLogin, message) => {
  const { browser, log, simulator } = await startSite({ ledger: { url: await newDatabaseUrl('embedded') }, onLogin });
  const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
  await simulator.wallet('Ada').confirm(secret);
  log.lines.length = 0;
  const { body } = await browser.send('POST', '/session', { id: intentIdOf(secret) });
  expect(body.code).toBe('internal_error');
  expect(log.lines).toHaveLength(1);
  expect(log.text).toMatch(/^error express-intents: internal_error \{/);
  expect(log.text).toMatch(message);
});

test('a unique violation in onLogin is reported with the route, the constraint and the line of the site, without values', async () => {
  const email = `${canaryOf('email')}@shop.example`;
  const { browser, log, simulator, router } = await startSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    onLogin: async (_user, _req, { tx }) => void (await tx?.query('insert into buyers values ($1)', [email])),
  });
  await router.database.query('create table buyers (email text unique)');
  await router.database.query('insert into buyers values ($1)', [email]);
  const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
  await simulator.wallet('Ada').confirm(secret);
  log.lines.length = 0;
  const { body } = await browser.send('POST', '/session', { id: intentIdOf(secret) });
  expect(body.code).toBe('internal_error');
  expect(log.lines).toHaveLength(1);
  expect(log.text).toMatch(/^error express-intents: onLogin failed /);
  expect(detailsOf(log.lines[0])).toMatchObject({
    ...{ route: 'POST /session', at: expect.stringMatching(/hook-errors\.test\.ts:\d+:\d+\)?$/) },
    ...{ sqlState: '23505', constraint: 'buyers_email_key', table: 'buyers' },
  });
  expect(log.text).not.toContain(email);
});
