import type { Route } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { begin, buttonScript, event, idOf, part, seen, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';
import { withoutEd25519 } from '../support/without-ed25519.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const files = '**/intent/v1/intent-dialog.*';

test('the intent is requested while the dialog is loaded', async () => {
  const { page, requests } = await open(site.page({ script: buttonScript() }));
  let respond = (): void => undefined;
  const requested = new Promise<void>((resolve) => {
    respond = resolve;
  });
  // The dialog arrives only after the intent was requested.
  await page.route(files, async (route) => {
    await requested;
    await route.continue();
  });
  page.on('request', (request) => request.method() === 'POST' && respond());
  await begin(page);
  const methods = requests.filter((request) => /intent-dialog|\/intent$/.test(request.url()));
  expect(methods).toHaveLength(2);
});

test('the dialog is loaded when the pointer or the focus reaches the button', async () => {
  for (const reach of ['hover', 'focus'] as const) {
    const { page, requests } = await open(site.page({ script: buttonScript() }));
    const loaded = (): number => requests.filter((request) => request.url().includes('intent-dialog')).length;
    await part(page, 'button').waitFor();
    expect(loaded()).toBe(0);
    await part(page, 'button')[reach]();
    await eventually(() => expect(loaded()).toBe(1));
    expect(await page.locator('intent-button[data-open]').count()).toBe(0);
  }
});

test('a dialog that twice fails to load is loaded by a retry, under another address', async () => {
  const visit = await open(site.page({ script: buttonScript() }));
  visit.forgive(/ERR_FAILED/);
  const { page } = visit;
  const paths: string[] = [];
  await page.route(files, (route) => {
    paths.push(new URL(route.request().url()).search);
    return paths.length < 3 ? route.abort() : route.continue();
  });
  const code = await begin(page);
  expect(paths).toEqual(['', '?retry=1', '?retry=2']);
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
});

test('a dialog that cannot be loaded is reported below the button, and the next press works', async () => {
  const visit = await open(site.page({ script: buttonScript(), lang: 'de' }));
  visit.forgive(/ERR_FAILED/);
  const { page } = visit;
  await page.route(files, (route) => route.abort());
  await part(page, 'button').click();
  expect(await event(page, 'error')).toMatchObject({ error: { code: 'offline' } });
  expect(await part(page, 'note').textContent()).toBe(
    'Verbindungsproblem. Versuchen Sie es noch einmal, oder laden Sie diese Seite neu.',
  );
  expect(await part(page, 'note').isVisible()).toBe(true);
  expect(await page.locator('intent-button[data-busy]').count()).toBe(0);
  expect((await seen(page)).map(([name]) => name)).toEqual(['invoke', 'error']);
  await page.unroute(files);
  await begin(page);
  expect(await part(page, 'note').textContent()).toBe('');
});

describe('the texts of the dialog in another language than English', () => {
  const german = '**/intent/v1/de.*';
  const openGerman = () => open(site.page({ script: buttonScript(), lang: 'de-AT' }));

  test('are loaded with the dialog, and those of no other language', async () => {
    const { page, requests } = await openGerman();
    await part(page, 'button').hover();
    await begin(page);
    expect(await part(page, 'close').getAttribute('aria-label')).toBe('Schließen');
    const loaded = requests
      .map((request) => new URL(request.url()).pathname)
      .filter((path) => path.startsWith('/intent/v1/'));
    const names = loaded.map((path) => path.slice('/intent/v1/'.length).replace(/\.[\w-]{8}\.js$/, '.js'));
    expect(names.sort()).toEqual(['de.js', 'elements.js', 'intent-dialog.js']);
  });

  test.each<[string, (route: Route) => unknown]>([
    ['cannot be loaded', (route) => route.abort()],
    ['never arrive', () => undefined],
  ])('that %s are replaced by those in English, and the payment works', async (_fault, answer) => {
    const visit = await openGerman();
    visit.forgive(/ERR_FAILED/);
    const { page } = visit;
    await page.route(german, (route) => void answer(route));
    const code = await begin(page);
    expect(await part(page, 'close').getAttribute('aria-label')).toBe('Close');
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });
});

describe('portable-ed25519.js, in a browser whose WebCrypto has no Ed25519,', () => {
  const portable = '**/intent/v1/portable-ed25519.*';

  /** @param answer answers each request for the file */
  async function openWithout(answer: (route: Route, time: number) => unknown) {
    const visit = await open(site.page({ script: buttonScript() }), { before: withoutEd25519 });
    visit.forgive(/ERR_FAILED/);
    const loads: string[] = [];
    await visit.page.route(portable, async (route) => {
      loads.push(new URL(route.request().url()).search);
      await answer(route, loads.length);
    });
    const posts = () => visit.requests.filter((request) => request.method() === 'POST').length;
    return { ...visit, loads, posts };
  }

  test('is loaded by a retry from another URL after two failures', async () => {
    const { page, loads } = await openWithout((route, time) => (time < 3 ? route.abort() : route.continue()));
    const code = await begin(page);
    expect(loads).toEqual(['', '?retry=1', '?retry=2']);
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('cannot be loaded: the dialog shows a problem, no intent is created, and a retry works', async () => {
    const { page, posts } = await openWithout((route) => route.abort());
    await part(page, 'button').click();
    await state(page, 'problem');
    expect(await event(page, 'error')).toMatchObject({ error: { code: 'offline' } });
    expect(await part(page, 'status').textContent()).toBe(
      'Connection problem. Try again in a minute. You were not charged.',
    );
    expect(posts()).toBe(0);
    await page.unroute(portable);
    await part(page, 'retry').click();
    await state(page, 'waiting');
    expect(posts()).toBe(1);
  });
});
