import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { compile } from 'svelte/compiler';
import type { HookRequest, Hooks } from '../../src/http/hooks.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { orderIn } from '../support/sites/site.js';
import { begin, closed, event, idOf, part, seen, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

// The button in pages that a framework renders on the server and hydrates in the browser.

const open = useChromium();
const here = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, '../../dist/browser');
const require = createRequire(import.meta.url);

/** A page in a framework: the modules of its server, which exports `html` or a promise of it, and of its browser. */
interface FrameworkPage {
  readonly server: string;
  readonly client: string;
  readonly alias?: Readonly<Record<string, string>>;
  /** The component of the page, which both modules import as `page`. */
  readonly page: string;
  readonly loader?: 'jsx' | 'js';
}

const reactPage = `
import { createElement as h, StrictMode, useRef, useState } from 'react';
import { IntentButton } from 'express-intents/react';
function Page() {
  const [quantity, setQuantity] = useState(1);
  const [isShown, setShown] = useState(true);
  const ref = useRef(null);
  const see = (name) => (detail) => { seen.push([name, { ...detail, quantity, isElement: ref.current?.localName === 'intent-button' }]); };
  return h('main', null,
    h('button', { id: 'more', onClick: () => setQuantity(quantity + 1) }, 'More'),
    h('button', { id: 'toggle', onClick: () => setShown(!isShown) }, 'Toggle'),
    isShown && h(IntentButton, {
      ref, className: 'pay', mode: 'payment', order: { id: 1, quantity }, cancelUrl: '/cart', expiresInMs: 60_000,
      onSuccess: see('success'), onCancel: (detail) => { see('cancel')(detail); return true; }, onError: see('error'),
      onInvoke: see('invoke'), onScanned: see('scanned'),
    }, 'Pay'));
}
export const page = h(StrictMode, null, h(Page));`;
const react: FrameworkPage = {
  page: reactPage,
  server: `import { renderToString } from 'react-dom/server'; import { page } from 'page'; export const html = renderToString(page);`,
  client: `import { hydrateRoot } from 'react-dom/client'; import { page } from 'page';
hydrateRoot(document.querySelector('#app'), page, { onRecoverableError: (error) => console.error(error) });`,
};

const vue: FrameworkPage = {
  page: `import 'express-intents/elements';
import { createSSRApp, h, ref } from 'vue';
const Page = { setup() {
  const quantity = ref(1), isShown = ref(true);
  return () => {
    const now = quantity.value;
    const see = (name) => ({ detail }) => { seen.push([name, { ...detail, quantity: now }]); };
    return h('main', [
      h('button', { id: 'more', onClick: () => { quantity.value += 1; } }, 'More'),
      h('button', { id: 'toggle', onClick: () => { isShown.value = !isShown.value; } }, 'Toggle'),
      isShown.value ? h('intent-button', { class: 'pay', mode: 'payment', order: { id: 1, quantity: now }, onSuccess: see('success'),
        onIntentcancel: see('cancel'), onIntenterror: see('error') }, 'Pay') : null,
    ]);
  };
} };
export const page = createSSRApp(Page);`,
  server: `import { renderToString } from 'vue/server-renderer'; import { page } from 'page'; export const html = renderToString(page);`,
  client: `import { page } from 'page'; page.mount('#app');`,
};

const svelte: FrameworkPage = {
  page: `<script>
  import 'express-intents/elements';
  let quantity = $state(1);
  let isShown = $state(true);
  const see = (name, now) => ({ detail }) => { seen.push([name, { ...detail, quantity: now }]); };
</script>
<main>
  <button id="more" onclick={() => { quantity += 1; }}>More</button>
  <button id="toggle" onclick={() => { isShown = !isShown; }}>Toggle</button>
  {#if isShown}<intent-button class="pay" mode="payment" order={{ id: 1, quantity }} onsuccess={see('success', quantity)}
    onintentcancel={see('cancel', quantity)} onintenterror={see('error', quantity)}>Pay</intent-button>{/if}
</main>`,
  server: `import { render } from 'svelte/server'; import Page from 'page'; export const html = render(Page).body;`,
  client: `import { hydrate } from 'svelte'; import Page from 'page'; hydrate(Page, { target: document.querySelector('#app') });`,
};

/** Bundles a module of a page. @returns the text of each file by its path */
async function bundle(of: FrameworkPage, side: 'server' | 'client'): Promise<Record<string, string>> {
  const page: Plugin = {
    name: 'page',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^page$/ }, () => ({ path: 'page', namespace: 'page' }));
      onLoad({ filter: /.*/, namespace: 'page' }, () => ({
        contents: of === svelte ? compile(of.page, { generate: side }).js.code : of.page,
        resolveDir: here,
      }));
    },
  };
  const isServer = side === 'server';
  const { outputFiles } = await build({
    stdin: { contents: of[side], resolveDir: here },
    alias: {
      'express-intents/elements': join(dist, 'elements.js'),
      'express-intents/react': join(dist, 'react.js'),
      ...of.alias,
    },
    plugins: [page],
    bundle: true,
    ...(isServer ? { format: 'cjs', platform: 'node' } : { format: 'esm', splitting: true }),
    conditions: isServer ? [] : ['browser'],
    outdir: '/',
    write: false,
    define: {
      'process.env.NODE_ENV': '"development"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'true',
    },
    logLevel: 'error',
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [path, text]));
}

async function renderOnServer(of: FrameworkPage): Promise<string> {
  const file = join(temporaryFolder(), 'server.cjs');
  writeFileSync(file, (await bundle(of, 'server'))['/stdin.js'] ?? '');
  return (require(file) as { html: string | Promise<string> }).html;
}

/** A site that serves the page, and the modules of its browser. */
async function serve(of: FrameworkPage, html: string, payment: Hooks['payment']): Promise<StrictSite> {
  const files = await bundle(of, 'client');
  return startStrictSite({
    payment,
    before: (app) => {
      app.get('/rendered', (_req, res) => {
        res.removeHeader('Content-Security-Policy');
        res.send(`<!doctype html><title>A shop</title><div id="app">${html}</div>
<script>globalThis.seen = [];</script><script type="module" src="/stdin.js"></script>`);
      });
      app.get(/^\/[\w.-]+\.js$/, (req, res, next) => {
        const file = files[req.path];
        return file === undefined ? next() : void res.type('js').send(file);
      });
    },
  });
}

const inReact18 = Object.fromEntries(
  ['react', 'react-dom'].map((name) => [name, join(here, 'react-18/node_modules', name)]),
);

test.each([
  ['React 19', react],
  ['React 18', { ...react, alias: inReact18 }],
  ['Vue', vue],
  ['Svelte', svelte],
])(
  'a page that %s renders on the server and hydrates sells its order, follows changes and calls the newest handlers',
  async (name, of) => {
    const orders: unknown[] = [];
    const payment = (req: HookRequest) => {
      orders.push(orderIn(req));
      return { amount: '4.50', currency: 'usd' };
    };
    const html = await renderOnServer(of);
    expect(html).toMatch(/<intent-button[^>]* class="pay"/);
    if (name.startsWith('React')) expect(html).toContain('order="{&quot;id&quot;:1,&quot;quantity&quot;:1}"');
    const site = await serve(of, html, payment);
    const { page } = await open(`${site.origin}/rendered`);
    const pay = async (quantity: number): Promise<void> => {
      const code = await begin(page);
      expect(orders.at(-1)).toEqual({ id: 1, quantity });
      await site.simulator.wallet('Ada').pay(code);
      await eventually(async () => {
        const found = (await seen(page)).filter(([event]) => event === 'success').at(-1);
        expect(found?.[1]).toMatchObject({ intent: idOf(code), quantity });
      });
      await closed(page);
    };
    await pay(1);
    await page.click('#more');
    await pay(2);
    await page.click('#toggle');
    expect(await page.locator('intent-button').count()).toBe(0);
    await page.click('#toggle');
    await page.click('#more');
    await pay(3);
    expect(orders).toHaveLength(3);
    await begin(page);
    await part(page, 'close').click();
    await eventually(async () => expect((await seen(page)).map(([event]) => event)).toContain('cancel'));
    const names = (await seen(page)).map(([event]) => event);
    expect(names.filter((event) => event === 'success')).toHaveLength(3);
    expect(names).not.toContain('error');
    if (name.startsWith('React')) {
      expect(names.filter((event) => event === 'invoke')).toHaveLength(4);
      expect((await seen(page)).every(([, detail]) => detail.isElement)).toBe(true);
      expect(new URL(page.url()).pathname).toBe('/rendered');
    }
  },
);

test('a payment whose React component was unmounted is reported to its handler', async () => {
  const of = {
    ...react,
    page: `
import { createElement as h, useState } from 'react';
import { IntentButton } from 'express-intents/react';
function Page() {
  const [isShown, setShown] = useState(true);
  return h('main', null, h('button', { id: 'toggle', onClick: () => setShown(!isShown) }, 'Toggle'),
    isShown && h(IntentButton, { order: 'tea', onSuccess: (detail) => { seen.push(['success', detail]); } }, 'Pay'));
}
export const page = h(Page);`,
  };
  const site = await serve(of, await renderOnServer(of), () => ({ amount: '4.50', currency: 'usd' }));
  const { page } = await open(`${site.origin}/rendered`);
  const code = await begin(page);
  await site.simulator.wallet('Ada').scan(code);
  await state(page, 'scanned');
  await page.evaluate('document.querySelector("#toggle").click()');
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
});

test('a payment made while the page was away is reported after React has hydrated it, however late', async () => {
  const late = {
    ...react,
    page: `import { createElement as h } from 'react'; import { IntentButton } from 'express-intents/react';
export const page = h('main', null,
  h(IntentButton, { order: { id: 1 }, onSuccess: (detail) => { seen.push(['success', detail]); } }, 'Pay'));`,
    client: `import { hydrateRoot } from 'react-dom/client'; import { page } from 'page';
globalThis.hydrate = () => hydrateRoot(document.querySelector('#app'), page);`,
  };
  const site = await serve(late, await renderOnServer(late), () => ({ amount: '4.50', currency: 'usd' }));
  const { page } = await open(`${site.origin}/rendered`);
  await page.waitForFunction('globalThis.hydrate');
  await page.evaluate('void hydrate()');
  const code = await begin(page);
  await site.simulator.wallet('Ada').scan(code);
  await state(page, 'scanned');
  await page.goto('about:blank');
  await site.simulator.wallet('Ada').pay(code);
  await page.goto(`${site.origin}/rendered`);
  await page.waitForFunction('globalThis.hydrate && customElements.get("intent-button")');
  // An earlier restore would have asked for the status by now.
  await page.evaluate('fetch("/session").then(() => undefined)');
  expect(await seen(page)).toEqual([]);
  await page.evaluate('void hydrate()');
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
});

test.each([
  ['18', inReact18],
  ['19', {}],
])('React %s renders boolean attributes as such, and calls a ref once', async (_version, alias) => {
  const of = {
    ...react,
    alias,
    page: `import { createElement as h, useState } from 'react'; import { IntentButton } from 'express-intents/react';
const ref = (element) => { if (element) seen.push(['ref', {}]); };
function Page() {
  const [count, setCount] = useState(0);
  return h('main', { 'data-count': count }, h('button', { id: 'more', onClick: () => setCount(count + 1) }, 'More'),
    h(IntentButton, { id: 'on', order: 'a', ref, disabled: false, hidden: false }, 'Pay'),
    h(IntentButton, { id: 'off', order: 'b', disabled: true }, 'Pay'));
}
export const page = h(Page);`,
  };
  const site = await serve(of, await renderOnServer(of), () => ({ amount: '4.50', currency: 'usd' }));
  const { page } = await open(`${site.origin}/rendered`);
  await event(page, 'ref');
  await page.click('#more');
  await page.waitForSelector('main[data-count="1"]');
  expect(await page.locator('#on').evaluate((one) => [one.matches(':disabled'), one.hasAttribute('hidden')])).toEqual([
    false,
    false,
  ]);
  expect(await page.locator('#off').evaluate((one) => one.matches(':disabled'))).toBe(true);
  expect((await seen(page)).map(([name]) => name)).toEqual(['ref']);
});
