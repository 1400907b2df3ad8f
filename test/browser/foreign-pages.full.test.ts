import { eventually } from '../support/eventually.js';
import { domain } from '../support/sites/site.js';
import { begin, buttonScript, closed, idOf, part, scan } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

// The button in pages that change what scripts take for granted.

const open = useChromium();
let site: StrictSite;
const orders: unknown[] = [];

beforeAll(async () => {
  site = await startStrictSite({
    payment: ({ body }) => {
      orders.push((body as { order: unknown }).order);
      return { amount: '4.50', currency: 'usd' };
    },
    before: (app) => {
      app.get('/old-libraries.js', (_req, res) => void res.type('js').send(`(${oldLibraries})()`));
      app.get('/based', (_req, res) => {
        res.removeHeader('Content-Security-Policy');
        res.send(`<!doctype html><base href="https://other.example/assets/"><div id="pay"></div>
<script type="module" src="${'/based.js'.replace(/^/, site.origin)}"></script>`);
      });
      app.get('/based.js', (_req, res) => void res.type('js').send(buttonScript({ successUrl: '/thanks' })));
    },
  });
});

/** Runs in the page: replacements and extensions of built-in functions as in libraries of 2005 to 2014. */
function oldLibraries(): void {
  const page = globalThis as unknown as Record<string, unknown>;
  const arrays = Array as unknown as Record<string, unknown>;
  // Prototype's $A has no mapper, and leaves the items of a list with only a length undefined.
  arrays.from = (list: ArrayLike<unknown>) => {
    const copy: unknown[] = [];
    for (let at = 0; at < (list?.length ?? 0); at += 1) copy[at] = list[at];
    return copy;
  };
  const arrayPrototype = Array.prototype as unknown as Record<string, unknown>;
  arrayPrototype.toJSON = function (this: unknown[]) {
    return `[${this.join(', ')}]`;
  };
  arrayPrototype.each = () => undefined;
  arrayPrototype.remove = () => undefined;
  arrayPrototype.inject = () => undefined;
  const objectPrototype = Object.prototype as unknown as Record<string, unknown>;
  objectPrototype.extend = () => undefined;
  objectPrototype.each = () => undefined;
  objectPrototype.keys = () => [];
  objectPrototype.toJSONString = () => '';
  // Loses the arguments.
  Function.prototype.bind = function (this: () => unknown, object: unknown) {
    return () => this.call(object);
  };
  Object.assign = (target: Record<string, unknown>, source: Record<string, unknown>) => {
    for (const name in source) target[name] = source[name];
    return target;
  };
  // Without chaining, race and all.
  page.Promise = class {
    // biome-ignore lint/suspicious/noThenProperty: a promise.
    then(): void {
      throw new Error('the Promise of an old library');
    }
  };
  page.JSON = {
    parse: () => {
      throw new Error('the JSON of an old library, which needs eval');
    },
    stringify(value: Record<string, unknown>) {
      let text = '';
      for (const name in value) text += `${name}:${value[name]}`;
      return text;
    },
  };
}

/** Notes the events in the page without built-in functions that it has replaced. */
const noteEvents = `import { elements } from '/intent/v1/elements.js';
const note = (button) => {
  for (const name of ['success', 'cancel', 'error']) button.on(name, (event) => {
    button.setAttribute('data-' + name, event.intent ?? String(event.error));
  });
};
for (const button of document.querySelectorAll('intent-button')) note(button);
const { button } = elements.create('button', { mode: 'login' });
note(button);
button.mount('#login');`;

test('a page with the built-in functions of old libraries accepts a payment and a login', async () => {
  const body = `<script src="/old-libraries.js"></script>
<div id="pay"><intent-button order='["tea",{"quantity":2,"note":"\\"caf\\u00e9\\""}]' lang="de"></intent-button></div><div id="login"></div>`;
  const { page } = await open(site.page({ body, script: noteEvents }));
  const first = page.locator('#pay intent-button');
  await first.locator('[part="button"]').click();
  const code = await scan(page);
  expect(orders).toEqual([['tea', { quantity: 2, note: '"café"' }]]);
  expect(await part(page, 'status').first().textContent()).toBe('Scannen Sie diesen Code mit Ihrer Wallet.');
  await site.simulator.wallet('Ada').pay(code);
  await eventually(async () => expect(await first.getAttribute('data-success')).toBe(idOf(code)));
  await closed(page);
  const second = page.locator('#login intent-button');
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await second.locator('[part="button"]').click();
  const { client_secret: login } = (await (await answer).json()) as { client_secret: string };
  await second.locator('dialog[data-state="waiting"]').waitFor();
  await site.simulator.wallet('Ada').login(login);
  await eventually(async () => expect(await second.getAttribute('data-success')).toBe(idOf(login)));
  const session = await page.context().request.get(`${site.origin}/session`);
  expect(await session.json()).toEqual({ user: { id: site.simulator.wallet('Ada').userId(domain) } });
  expect(await page.locator('[data-error]').count()).toBe(0);
});

test('a page whose base is another origin sends its requests to its own origin, and returns there', async () => {
  const visit = await open(`${site.origin}/based`);
  const { page } = visit;
  visit.forgive(/other origin/, /record\.js/);
  const code = await begin(page);
  await site.simulator.wallet('Ada').pay(code);
  await page.waitForURL(`${site.origin}/thanks`);
  const asked = visit.requests.map((request) => new URL(request.url()));
  expect(asked.filter(({ origin }) => origin !== site.origin).map(({ pathname }) => pathname)).toEqual([]);
});

test('a button in the shadow tree of a component has the language around the component, and follows its changes', async () => {
  const script = `import '/intent/v1/elements.js';
const root = document.querySelector('#component').attachShadow({ mode: 'open' });
root.append(document.createElement('p'));
root.firstChild.append(document.createElement('intent-button'));`;
  const { page } = await open(site.page({ body: '<div lang="de"><div id="component"></div></div>', script }));
  const button = page.locator('intent-button [part="button"]');
  const shows = (text: string): Promise<void> => eventually(async () => expect(await button.textContent()).toBe(text));
  await shows('Mit Wallet bezahlen');
  await page.locator('[lang="de"]').evaluate((element) => element.setAttribute('lang', 'fr'));
  await shows('Payer avec votre portefeuille');
  await page.locator('intent-button').evaluate((element) => element.parentElement?.setAttribute('lang', 'es'));
  await shows('Pagar con tu monedero');
  await button.click();
  await eventually(async () => expect(await part(page, 'title').textContent()).toBe('Pagar con tu monedero'));
});
