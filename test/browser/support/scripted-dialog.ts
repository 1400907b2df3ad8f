import type { BrowserContextOptions, Page } from 'playwright-core';
import { part, state as reached } from './checkout.js';
import { type SitePage, startStrictSite } from './strict-site.js';

// The element in each state of its dialog, with scripted answers.

export const states = [
  ['preparing', 'payment'],
  ['waiting', 'payment'],
  ['code', 'payment'],
  ['scanned', 'payment'],
  ['done', 'payment'],
  ['declined', 'payment'],
  ['expired', 'payment'],
  ['offline', 'payment'],
  ['silent', 'payment'],
  ['problem', 'payment'],
  ['refused', 'payment'],
  ['waiting', 'login'],
  ['expired', 'login'],
  ['awaitingConfirmation', 'login'],
  ['completing', 'login'],
  ['done', 'login'],
  ['problem', 'login'],
] as const;

/** A handheld device. */
export const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

/** Replaces the server and clicks the button. The client secrets are public test values, split because the leak check finds whole ones. */
const script = (state: string, mode: string): string => `
const state = '${state}';
const mode = '${mode}';
const clientSecret = mode === 'login' ? '3RbiRuR782E' + 'tDr3Cx6iFnxNeQW1' : '34W4Shnddrx6' + 'y2jsJF622aU2Rkq';
const status = (flags) => ({ exists: true, code_scanned: false, intent_submitted: false, ...flags });
const never = new Promise(() => {});
const json = (body, code = 200) => new Response(JSON.stringify(body), { status: code });
const isOver = /^(done|completing|awaitingConfirmation)$/.test(state) || (state === 'problem' && mode === 'login');
const flags = status({ code_scanned: state === 'scanned', intent_submitted: isOver });

async function answer(path) {
  if (path === '/intent') {
    if (state === 'preparing') return never;
    if (state === 'refused') return json({ code: 'request_refused', detail: 'This tea is sold out.' }, 409);
    if (state === 'problem' && mode === 'payment') return json({ code: 'internal_error' }, 500);
    return json({ client_secret: clientSecret }, 201);
  }
  if (path === '/session') {
    if (state === 'completing') return never;
    if (state === 'awaitingConfirmation') return json({ confirm: { user: { id: 'AuwU1111111111111111111111111tSuL' } } });
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
    this.dispatchEvent(new MessageEvent('description', { data: '{"description":"Smoked black tea, 100 g"}' }));
    this.dispatchEvent(new MessageEvent('status', { data: JSON.stringify(flags) }));
    if (state === 'declined') this.dispatchEvent(new MessageEvent('client_rejected_' + mode, { data: '{}' }));
  }
  close() {
    this.readyState = 2;
  }
};

const { elements } = await import('/intent/v1/elements.js');
const expiresInMs = state === 'expired' ? 100 : undefined;
const { button } = elements.create('button', { mode, walletUrl: 'https://wallet.example/', expiresInMs });
if (mode === 'payment') button.label = 'Pay $27.00';
// Keeps the dialog open in the state "done".
button.on('success', () => never);
button.mount('#pay');
document.querySelector('intent-button').shadowRoot.querySelector('button').click();
`;

/** Shows the dialog in a state. */
export type Show = (state: string, mode: string, view: BrowserContextOptions, sitePage?: SitePage) => Promise<Page>;

/** Starts a site whose dialog can be shown in each state. */
export async function startScriptedDialog(
  open: (url: string, view: BrowserContextOptions) => Promise<Page>,
): Promise<Show> {
  const site = await startStrictSite({ button: { name: 'Tea House', logo: '/logo.svg', help: { url: '/wallets' } } });
  return async (state, mode, view, sitePage = {}) => {
    const colorScheme = 'light dark';
    const page = await open(site.page({ colorScheme, ...sitePage, script: script(state, mode) }), view);
    await reached(page, { code: 'waiting', refused: 'problem' }[state] ?? state);
    if (state === 'expired') await part(page, 'retry').waitFor();
    if (state === 'code' && (await part(page, 'show-code').isVisible())) await part(page, 'show-code').click();
    return page;
  };
}
