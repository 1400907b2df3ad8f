// Answers in place of the server, and then lets the real element be clicked.
const asked = new URLSearchParams(location.search);
const state = asked.get('state');
const mode = asked.get('mode') === 'login' ? 'login' : 'payment';

/** Public test values: 4.50 usd, and a login. */
const clientSecret = mode === 'login' ? '3RbiRuR782EtDr3Cx6iFnxNeQW1' : '34W4Shnddrx6y2jsJF622aU2Rkq';

const status = (flags) => ({ exists: true, code_scanned: false, intent_submitted: false, ...flags });
const never = new Promise(() => {});
const json = (body, code = 200) => new Response(JSON.stringify(body), { status: code });
const isOver = state === 'done' || state === 'confirming' || (state === 'problem' && mode === 'login');

async function answer(path) {
  if (path === '/intent') {
    if (state === 'preparing') return never;
    if (state === 'problem' && mode === 'payment') return json({ code: 'sequencer_unreachable' }, 503);
    return json({ client_secret: clientSecret }, 201);
  }
  if (path === '/session') {
    if (state === 'confirming') return never;
    return state === 'problem' ? json({ code: 'intent_not_found' }, 404) : json({ user: { id: 'somebody' } });
  }
  if (state === 'offline') throw new TypeError('There is no network.');
  return json(status({ code_scanned: state === 'scanned', intent_submitted: isOver }));
}

globalThis.fetch = (path) => answer(String(path));
globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2;
  readyState = 1;

  constructor() {
    super();
    setTimeout(() => this.#begin(), 50);
  }

  #begin() {
    if (state === 'offline') {
      this.readyState = 2;
      return this.dispatchEvent(new Event('error'));
    }
    const data = JSON.stringify(status({ code_scanned: state === 'scanned', intent_submitted: isOver }));
    this.dispatchEvent(new MessageEvent('status', { data }));
    if (state === 'rejected') this.dispatchEvent(new MessageEvent(`client_rejected_${mode}`, { data: '{}' }));
  }

  close() {
    this.readyState = 2;
  }
};

// The frames share their storage, and none is to hear of another.
Object.defineProperty(globalThis, 'sessionStorage', { value: undefined });

await import('/intent/v1/elements.js');
const button = document.querySelector('intent-button');
Object.assign(button, { mode, expiresInMs: state === 'expired' ? 100 : undefined });
// Kept open: what follows "paid" is another page.
button.on('success', () => never);
button.shadowRoot.querySelector('button').click();
