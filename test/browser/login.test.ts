import { domain } from '../support/site.js';
import { begin, buttonScript, clickAndScan, event, idOf, part, state } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

/** What the server says to the page's own question. */
const session = (page: import('playwright-core').Page): Promise<unknown> =>
  page.evaluate(async () => (await fetch('/session')).json());

const login = { mode: 'login', order: undefined };

test('a visitor logs in: the session is there when success comes', async () => {
  const script = buttonScript(
    login,
    `button.on('success', async () => { note('session', await (await fetch('/session')).json()); });`,
  );
  const { page } = await open(site.page({ script }));
  const code = await clickAndScan(page);
  await site.sequencer.wallet('Ada').login(code);
  const user = { id: site.sequencer.wallet('Ada').userId(domain) };
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  expect(await event(page, 'session')).toEqual({ user });
  expect(await session(page)).toEqual({ user });
  await state(page, 'done');
});

test('a login that the wallet declines logs nobody in', async () => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await begin(page);
  await site.sequencer.wallet('Ada').reject(code);
  await state(page, 'rejected');
  expect(await session(page)).toEqual({ user: null });
});

test('a login that was cancelled on the page logs nobody in, even when the wallet confirms it', async () => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await begin(page);
  await part(page, 'cancel').click();
  await event(page, 'cancel');
  await site.sequencer.wallet('Ada').login(code);
  await page.reload();
  expect(await session(page)).toEqual({ user: null });
});

test('the success page in another browser, as a wallet opens it, cannot take the login over', async () => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await begin(page);
  const id = idOf(code);
  await site.sequencer.wallet('Ada').login(code);

  const elsewhere = await open(`${site.origin}/thanks?id=${id}`);
  elsewhere.forgive(/status of 404/);
  expect(await elsewhere.page.locator('h1').textContent()).toBe('Thank you');
  const answer = await elsewhere.page.evaluate(async (intent) => {
    const { status } = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: intent }),
    });
    return status;
  }, id);
  expect(answer).toBe(404);
  expect(await session(elsewhere.page)).toEqual({ user: null });

  await event(page, 'success');
  expect(await session(page)).toEqual({ user: { id: site.sequencer.wallet('Ada').userId(domain) } });
});
