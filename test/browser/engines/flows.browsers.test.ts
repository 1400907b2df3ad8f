import type { Browser } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { domain } from '../../support/sites/site.js';
import { type ButtonOptions, event, idOf, seen } from '../support/checkout.js';
import { openCuttableConnection } from '../support/cuttable-connection.js';
import { launchChromium } from '../support/launch-chromium.js';
import { decodeCode } from '../support/read-code.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { withoutEd25519 } from '../support/without-ed25519.js';
import { startChromium } from './chromium.js';
import type { Engine, EnginePage, View } from './engine.js';
import { appeared, begin, clickPart, engineScript, reached, textOf } from './engine-checkout.js';
import { startFirefox } from './firefox.js';
import { startWebKit } from './webkit.js';

let site: StrictSite;
/** Reads the codes on screenshots of all engines. */
let reader: Browser;

beforeAll(async () => {
  site = await startStrictSite();
  reader = await launchChromium();
});
afterAll(() => reader?.close());

const desk = { width: 1000, height: 720 };
const login = { mode: 'login', order: undefined };

describe.each([
  ['Chromium', startChromium],
  ['Firefox', startFirefox],
  ['WebKit', startWebKit],
])('in %s', (_engine, start) => {
  let engine: Engine;
  let page: EnginePage;

  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine?.close());

  /** The strict policy allows everything, and no error is uncaught. */
  afterEach(async () => {
    const faults = (await seen(page)).filter(([name]) => /violation|fault/.test(name));
    expect(faults).toEqual([]);
  });

  async function visit(address: string, view: View = desk): Promise<void> {
    page = await engine.visit(view);
    await page.goto(address);
  }

  const openButton = (options?: ButtonOptions, more?: string, body?: string): Promise<void> =>
    visit(site.page({ script: engineScript(options, more), ...(body && { body }) }));

  /** The code on the screen, read as by a camera. */
  async function scan(): Promise<string> {
    let code: string | undefined;
    await reached(page, 'waiting');
    await appeared(page);
    await eventually(async () => {
      code = await decodeCode(reader, await page.screenshot());
      expect(code).toBeDefined();
    });
    return code ?? '';
  }

  const names = async (): Promise<string[]> => (await seen(page)).map(([name]) => name);

  test('a wallet scans and pays the code on the screen', async () => {
    await openButton();
    await clickPart(page, 'button');
    const code = await scan();
    expect(await textOf(page, 'amount')).toBe('$4.50');
    await site.simulator.wallet('Ada').scan(code);
    await reached(page, 'scanned');
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
    expect(await names()).toEqual(['invoke', 'scanned', 'success']);
  });

  test('without Ed25519 in WebCrypto a payment succeeds', async () => {
    await openButton({}, `(${withoutEd25519})();`);
    const code = await begin(page);
    const loaded = `performance.getEntriesByType('resource').some(({ name }) => name.includes('portable-ed25519.'))`;
    expect(await page.evaluate(loaded)).toBe(true);
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('a login creates the session', async () => {
    await openButton(login);
    await clickPart(page, 'button');
    const code = await scan();
    await site.simulator.wallet('Ada').login(code);
    const user = { id: site.simulator.wallet('Ada').userId(domain) };
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code), user });
    expect(await page.evaluate(`fetch('/session').then((response) => response.json())`)).toEqual({ user });
  });

  test('a canceled payment closes the dialog and opens the cancel URL', async () => {
    await openButton({ cancelUrl: '/thanks?canceled' });
    await begin(page);
    await clickPart(page, 'close');
    await eventually(async () => expect(await page.evaluate('location.search')).toBe('?canceled'));
    await page.goto(site.page({ script: engineScript() }));
    expect(await event(page, 'cancel')).toMatchObject({ reason: 'dismissed' });
  });

  test('while the site is away the dialog says so, and the payment succeeds after the recovery', async () => {
    const connection = await openCuttableConnection(site.origin);
    await visit(site.page({ script: engineScript() }).replace(site.origin, connection.url));
    const code = await begin(page);
    connection.cut();
    await reached(page, 'offline');
    expect(await textOf(page, 'status')).toBe('Connection problem. Still trying…');
    connection.restore();
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('a payment succeeds after a reload', async () => {
    await openButton();
    const code = await begin(page);
    await page.reload();
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('the policy of the page reports its violations', async () => {
    await openButton();
    await page.evaluate(`document.body.setAttribute('style', 'color: red')`);
    expect(await event(page, 'violation')).toBe('style-src-attr');
    await page.evaluate('void seen.splice(0)');
  });
});
