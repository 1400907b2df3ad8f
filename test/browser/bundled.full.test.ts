import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { HookRequest } from '../../src/http/hooks.js';
import { eventually } from '../support/eventually.js';
import { orderIn } from '../support/sites/site.js';
import { begin, event, part, textOf } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium, type Visit } from './support/visit.js';

// The button in the bundle of a page, as `import 'express-intents/elements'` with a bundler.

const elements = fileURLToPath(new URL('../../dist/browser/elements.js', import.meta.url));
const walletUrl = 'https://wallet.example/open';
const renamed = { intent: '/buy', status: '/how', events: '/happenings', session: '/who', elements: '/wallet/files' };

const open = useChromium();

/** Bundles a script for browsers. @returns the text of each file by its name */
async function bundle(script: string, format: 'esm' | 'iife'): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    alias: { 'express-intents/elements': elements },
    bundle: true,
    format,
    splitting: format === 'esm',
    outdir: '/',
    write: false,
    external: ['/record.js'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [path, text]));
}

const script = (options: object, mount = "button.mount('#pay')"): string => `
import { elements } from 'express-intents/elements';
const { button } = elements.create('button', ${JSON.stringify({ mode: 'payment', order: 42, ...options })});
globalThis.seen = [];
for (const name of ['success', 'error']) button.on(name, (event) => { seen.push([name, { ...event }]); });
${mount};`;

async function startBundled(
  text: string,
  options: Parameters<typeof startStrictSite>[0] = {},
  format: 'esm' | 'iife' = 'esm',
): Promise<StrictSite> {
  const files = await bundle(text, format);
  return startStrictSite({
    button: { walletUrl },
    ...options,
    before: (app) => {
      app.get(/^\/[\w.-]+\.js$/, (req, res, next) => {
        const file = files[req.path];
        return file === undefined ? next() : void res.type('js').send(file);
      });
    },
  });
}

const siteRequests = ({ requests }: Visit): string[] =>
  requests.map((request) => new URL(request.url()).pathname).filter((path) => path.endsWith('site.json'));

const linkOf = ({ page }: Visit): Promise<string | null> => part(page, 'link').getAttribute('href');

test.each(['esm', 'iife'] as const)('a button in a bundle (%s) links to the wallet of the server', async (format) => {
  const site = await startBundled(script({}), {}, format);
  const visit = await open(site.page({ script: "import '/stdin.js';" }));
  const secret = await begin(visit.page);
  expect(await linkOf(visit)).toBe(`${walletUrl}#${secret}`);
  await site.simulator.wallet('Ada').pay(secret);
  await event(visit.page, 'success');
  expect(siteRequests(visit)).toEqual(['/intent/v1/site.json']);
});

test('a button in a bundle has the texts of the site, and its dialog the name and the accent', async () => {
  const texts = { en: { payment: 'Buy now', waiting: 'Scan me.' } };
  const site = await startBundled(script({}), { button: { walletUrl, name: 'Tea House', accent: '#2f5d4a', texts } });
  const { page } = await open(site.page({ script: "import '/stdin.js';" }));
  await part(page, 'button').filter({ hasText: 'Buy now' }).waitFor();
  await begin(page);
  expect([await textOf(page, 'payee'), await textOf(page, 'status')]).toEqual(['Tea House', 'Scan me.']);
  const accent = await part(page, 'dialog').evaluate((dialog) =>
    getComputedStyle(dialog).getPropertyValue('--_accent'),
  );
  expect(accent).toContain('#2f5d4a');
});

test('two buttons in a bundle request the configuration once', async () => {
  const site = await startBundled(script({}, "button.mount('#pay'); elements.create('button').button.mount('#pay')"));
  const visit = await open(site.page({ script: "import '/stdin.js';" }));
  await visit.page.waitForLoadState('networkidle');
  expect(siteRequests(visit)).toEqual(['/intent/v1/site.json']);
});

test('a button in a bundle finds renamed routes under a mount path with base and routes.elements', async () => {
  const options = { base: '/shop', routes: { elements: renamed.elements } };
  const site = await startBundled(script(options), { mountPath: '/shop', login: false, routes: renamed });
  const visit = await open(site.page({ script: "import '/stdin.js';" }));
  const secret = await begin(visit.page);
  expect(await linkOf(visit)).toBe(`${walletUrl}#${secret}`);
  await site.simulator.wallet('Ada').pay(secret);
  await event(visit.page, 'success');
  const paths = visit.requests.map((request) => new URL(request.url()).pathname);
  expect(paths).toEqual(expect.arrayContaining(['/shop/wallet/files/site.json', '/shop/buy']));
});

test('a button in a bundle returns to an origin that only the server knows', async () => {
  const other = 'https://account.example';
  const options = { successUrl: `${other}/thanks`, cancelUrl: '/cart' };
  const site = await startBundled(script(options), { button: { returnOrigins: [other] } });
  const visit = await open(site.page({ script: "import '/stdin.js';" }));
  const secret = await begin(visit.page);
  expect(await linkOf(visit)).toContain(encodeURIComponent(`${other}/thanks`));
  expect(secret).not.toBe('');
});

test('a button in a bundle works without a link if the configuration is not served', async () => {
  const site = await startBundled(script({ successUrl: 'https://evil.example/' }), {
    routes: { elements: false },
  });
  const visit = await open(site.page({ script: "import '/stdin.js';" }));
  visit.forgive(/404/, /must be a URL of this site/);
  const secret = await begin(visit.page);
  expect(await part(visit.page, 'link').isVisible()).toBe(false);
  await site.simulator.wallet('Ada').pay(secret);
  await event(visit.page, 'success');
  await eventually(() => expect(visit.faults.join()).toContain('must be a URL of this site'));
  expect(new URL(visit.page.url()).origin).toBe(site.origin);
});

test.each([
  [
    'React',
    `import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
createRoot(document.querySelector('#pay')).render(createElement('intent-button', { ...attributes, onsuccess: done }));`,
  ],
  [
    'Vue',
    `import { createApp, h } from 'vue/dist/vue.runtime.esm-bundler.js';
createApp({ render: () => h('intent-button', { ...attributes, onSuccess: done }) }).mount('#pay');`,
  ],
])('%s sets the order and the attributes, and handles events', async (_name, render) => {
  const text = `import 'express-intents/elements';
globalThis.seen = [];
const done = ({ detail }) => { seen.push(['success', detail]); };
const attributes = { mode: 'payment', order: { id: 42 }, 'cancel-url': '/cart' };
${render}`;
  const orders: unknown[] = [];
  const payment = (req: HookRequest) => {
    orders.push(orderIn(req));
    return { amount: '4.50', currency: 'usd' };
  };
  const site = await startBundled(text, { payment });
  const visit = await open(site.page({ script: "import '/stdin.js';" }));
  // Vue creates a policy for Trusted Types, which this site does not allow, and works without it.
  visit.forgive(/named 'vue'|trusted-types-policy vue/);
  const secret = await begin(visit.page);
  expect(new URLSearchParams((await linkOf(visit))?.split('&').slice(1).join('&')).get('cancel')).toBe(
    `${site.origin}/cart`,
  );
  await site.simulator.wallet('Ada').pay(secret);
  await event(visit.page, 'success');
  expect(orders).toEqual([{ id: 42 }]);
});

test('the built file loads site.json only in a bundle', () => {
  const [line = '', ...rest] = readFileSync(elements, 'utf8').split('\n');
  expect(line).toContain('load-site.js');
  expect(rest.join('\n')).not.toContain('load-site.js');
});
