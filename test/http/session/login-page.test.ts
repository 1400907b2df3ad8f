import { createHash } from 'node:crypto';
import { requireLogin } from '../../../src/http/session/require-login.js';
import { expressVersions, type SiteOptions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const people = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

function start(options: SiteOptions = {}) {
  return startSite(
    {
      sequencer: { transport: countingTransport() },
      after: (app) => {
        app.use(['/account', '/wallet/account'], requireLogin(), (_req, res) => void res.send('The account.'));
      },
    },
    options,
  );
}

/** The header and the text of a page. */
async function visit(url: string, method = 'GET', headers: Record<string, string> = people) {
  const response = await fetch(url, { method, headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe.each(Object.entries(expressVersions))('requireLogin() without loginUrl on %s', (_version, factory) => {
  test('answers 401 with a page to page views', async () => {
    const site = await start({ factory });
    const { status, headers, text } = await visit(`${site.origin}/account?tab=1`);
    expect([status, headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).toContain('<h1>Please log in</h1>');
    expect(text).toContain('<intent-button mode="login" success-url="/account?tab=1"></intent-button>');
    expect(text).toContain('<script type="module" src="/intent/v1/elements.js"></script>');
  });

  test.each([
    ['JSON', { accept: 'application/json' }],
    ['anything, as fetch and curl do', { accept: '*/*' }],
  ])('answers 401 problem+json to a program that accepts %s', async (_name, headers) => {
    const site = await start({ factory });
    const { status, headers: sent, text } = await visit(`${site.origin}/account`, 'GET', headers);
    expect([status, sent.get('content-type')]).toEqual([401, 'application/problem+json']);
    expect(JSON.parse(text)).toMatchObject({ status: 401, code: 'login_required' });
  });
});

test('the login page of a form leads to the start page, because a form cannot be sent again', async () => {
  const site = await start();
  const { status, text } = await visit(`${site.origin}/account/delete`, 'POST');
  expect(status).toBe(401);
  expect(text).toContain('success-url="/"');
});

test('the policy of the login page allows its style and no other inline code', async () => {
  const site = await start({
    before: (app) => {
      app.use((_req, res, next) => {
        res.set('Content-Security-Policy', "default-src 'unsafe-inline'").set('X-Powered-By', 'the app');
        next();
      });
    },
  });
  const { headers, text } = await visit(`${site.origin}/account`);
  const policy = headers.get('content-security-policy') ?? '';
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(policy.split(';').sort()).toEqual(
    [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      `style-src 'self' 'sha256-${hash}'`,
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].sort(),
  );
  expect(text).not.toMatch(/ style=| on\w+=|<script(?![^>]* src=)/);
  expect([headers.get('x-content-type-options'), headers.get('x-powered-by')]).toEqual(['nosniff', null]);
});

test.each([
  ['/account?a="><script>alert(1)</script>', '/account?a=%22%3E%3Cscript%3Ealert(1)%3C/script%3E'],
  ["/account?a='&b=<b>", '/account?a=%27&#38;b=%3Cb%3E'],
  ['//evil.example/account', '/'],
])('the login page of %j returns to %j', async (path, target) => {
  // Fetch would normalize the path, so a rewrite sets it.
  const site = await start({
    before: (app) =>
      app.use((req, _res, next) => next(void Object.assign(req, { originalUrl: req.originalUrl.replace('/x', '') }))),
    after: (app) => {
      app.use(requireLogin());
    },
  });
  const { text } = await visit(`${site.origin}/x${path}`);
  expect(/success-url="([^"]*)"/.exec(text)?.[1]).toBe(target);
});

test('the login page of a router at a path loads the button from there', async () => {
  const site = await start({ mountPath: '/wallet', routes: { elements: '/button' } });
  const { text } = await visit(`${site.origin}/wallet/account`);
  expect(text).toContain('<script type="module" src="/wallet/button/elements.js"></script>');
});

test.each([
  ['de-CH,en;q=0.5', 'de', 'Bitte melden Sie sich an'],
  ['es', 'es', 'Inicia sesión'],
  ['fr-CA', 'fr', 'Veuillez vous connecter'],
  ['ja', 'ja', 'ログインしてください'],
  ['nl, *;q=0.1', 'en', 'Please log in'],
])('the login page for Accept-Language: %s is in %s', async (accepted, language, title) => {
  const site = await start();
  const { text } = await visit(`${site.origin}/account`, 'GET', { ...people, 'accept-language': accepted });
  expect(text).toContain(`<html lang="${language}">`);
  expect(text).toContain(`<h1>${title}</h1>`);
});

test('the login page shows the name and the logo of the site', async () => {
  const button = { name: 'Tea & <b>', logo: 'https://cdn.example/a"b.svg' };
  const site = await start({ button });
  const { headers, text } = await visit(`${site.origin}/account`);
  expect(text).toContain('<title>Please log in – Tea &#38; &#60;b&#62;</title>');
  expect(text).toContain('<p class="site">Tea &#38; &#60;b&#62;</p>');
  expect(text).toContain('<img src="https://cdn.example/a&#34;b.svg" alt="">');
  expect(headers.get('content-security-policy')).toContain("img-src 'self' data: https://cdn.example;");
});

test.each<[string, SiteOptions]>([
  ['logins', { login: false }],
  ['the session route', { routes: { session: false } }],
  ['the route of the button', { routes: { elements: false } }],
  ['the route that creates intents', { routes: { intent: false } }],
])('the login page of a site that disables %s has no button', async (_name, options) => {
  const site = await start(options);
  const { status, text } = await visit(`${site.origin}/account`);
  expect(status).toBe(401);
  expect(text).toContain('Log in on this site. Then open this page again.');
  expect(text).not.toMatch(/<intent-button|<script/);
});
