import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { axeViolations } from '../support/axe.js';
import { state as reached, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

// The element in each state of its dialog, with scripted answers. Set SCREENSHOTS to a folder for pictures, and LANGUAGE=ja or
// DIRECTION=rtl for variants.
const { SCREENSHOTS: folder, LANGUAGE: lang = 'en', DIRECTION: direction } = process.env;

const states = [
  ['preparing', 'payment'],
  ['waiting', 'payment'],
  ['scanned', 'payment'],
  ['done', 'payment'],
  ['declined', 'payment'],
  ['expired', 'payment'],
  ['offline', 'payment'],
  ['silent', 'payment'],
  ['problem', 'payment'],
  ['waiting', 'login'],
  ['completing', 'login'],
  ['done', 'login'],
  ['problem', 'login'],
] as const;

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
  if (folder) mkdirSync(folder, { recursive: true });
});

/** Replaces the server and clicks the button. The client secrets are public test values, split because the leak check finds whole ones. */
const script = (state: string, mode: string): string => `
const state = '${state}';
const mode = '${mode}';
const clientSecret = mode === 'login' ? '3RbiRuR782E' + 'tDr3Cx6iFnxNeQW1' : '34W4Shnddrx6' + 'y2jsJF622aU2Rkq';
const status = (flags) => ({ exists: true, code_scanned: false, intent_submitted: false, ...flags });
const never = new Promise(() => {});
const json = (body, code = 200) => new Response(JSON.stringify(body), { status: code });
const isOver = state === 'done' || state === 'completing' || (state === 'problem' && mode === 'login');
const flags = status({ code_scanned: state === 'scanned', intent_submitted: isOver });

async function answer(path) {
  if (path === '/intent') {
    if (state === 'preparing') return never;
    if (state === 'problem' && mode === 'payment') return json({ code: 'internal_error' }, 500);
    return json({ client_secret: clientSecret }, 201);
  }
  if (path === '/session') {
    if (state === 'completing') return never;
    return state === 'problem' ? json({ code: 'intent_not_found' }, 404) : json({ user: { id: 'visitor' } });
  }
  if (state === 'offline' || !navigator.onLine) throw new TypeError('There is no network.');
  if (state === 'silent') return json({ code: 'sequencer_unreachable' }, 503);
  return json(flags);
}

globalThis.fetch = (url) => answer(new URL(url, location.href).pathname);
globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2;
  readyState = 1;
  constructor() {
    super();
    setTimeout(() => this.begin(), 50);
  }
  begin() {
    if (state === 'offline' || state === 'silent' || !navigator.onLine) {
      this.readyState = 2;
      return this.dispatchEvent(new Event('error'));
    }
    this.dispatchEvent(new MessageEvent('status', { data: JSON.stringify(flags) }));
    if (state === 'declined') this.dispatchEvent(new MessageEvent('client_rejected_' + mode, { data: '{}' }));
  }
  close() {
    this.readyState = 2;
  }
};

const { elements } = await import('/intent/v1/elements.js');
const expiresInMs = state === 'expired' ? 100 : undefined;
const { button } = elements.create('button', { mode, payee: 'A shop', walletUrl: 'https://wallet.example/', expiresInMs });
// Keeps the dialog open in the state "done".
button.on('success', () => never);
button.mount('#pay');
document.querySelector('intent-button').shadowRoot.querySelector('button').click();
`;

describe.each(['light', 'dark'] as const)('the dialog in %s', (colorScheme) => {
  test.each(states)('%s, %s: has no axe violations and no overflow on a phone', async (state, mode) => {
    const dir = direction === 'rtl' ? 'rtl' : 'ltr';
    const address = site.page({ script: script(state, mode), lang, dir });
    const { page } = await open(address, { colorScheme, viewport: { width: 390, height: 780 } });
    await reached(page, state);
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    if (folder) await page.screenshot({ path: path.join(folder, `${mode}-${state}-${colorScheme}.png`) });
  });

  // Without axe: its session with the debugger ends the emulation of the missing network.
  test('without a network, payment: says what to do, and has no overflow on a phone', async () => {
    const address = site.page({ script: script('waiting', 'payment') });
    const { page, context } = await open(address, { colorScheme, viewport: { width: 390, height: 780 } });
    await reached(page, 'waiting');
    await context.setOffline(true);
    await reached(page, 'offline');
    expect(await textOf(page, 'status')).toBe('You are offline. If you have paid, keep this page open.');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    if (folder) await page.screenshot({ path: path.join(folder, `payment-disconnected-${colorScheme}.png`) });
  });
});
