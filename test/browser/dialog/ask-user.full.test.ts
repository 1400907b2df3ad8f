import type { Page } from 'playwright-core';
import { domain } from '../../support/sites/site.js';
import { axeViolations } from '../support/axe.js';
import { begin, buttonScript, closed, event, idOf, part, seen, state, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    login: { confirm: true },
    payment: () => ({ amount: '4.50', currency: 'usd', login: true }),
  });
});

const login = { mode: 'login', order: undefined };
const session = (page: Page): Promise<unknown> => page.evaluate(async () => (await fetch('/session')).json());
const ada = () => ({ user: { id: site.simulator.wallet('Ada').userId(domain) } });
const short = () => ada().user.id.replace(/^(.{4}).*(.{4})$/, '$1…$2');
const questionShown = (page: Page): Promise<void> => part(page, 'retry').waitFor();

/** Confirms in the wallet and waits for the question. */
async function question(page: Page, mode: 'login' | 'payment' = 'login'): Promise<string> {
  const code = await begin(page);
  await site.simulator.wallet('Ada')[mode === 'login' ? 'login' : 'pay'](code);
  await questionShown(page);
  return code;
}

test('the dialog shows the shortened id in its question, and Continue logs in', async () => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await question(page);
  expect(await textOf(page, 'status')).toBe(`Continue as ${short()}?\nThis is your wallet’s id on this site.`);
  expect([await textOf(page, 'retry'), await textOf(page, 'cancel')]).toEqual(['Continue', 'Not me']);
  expect(await axeViolations(page)).toEqual([]);
  expect(await session(page)).toEqual({ user: null });
  await part(page, 'retry').click();
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code), ...ada() });
  expect(await session(page)).toEqual(ada());
  await state(page, 'done');
  expect(await part(page, 'retry').isVisible()).toBe(false);
});

test.each([
  ['the button', (page: Page) => part(page, 'cancel').click()],
  ['Escape', (page: Page) => page.keyboard.press('Escape')],
])('declining with %s cancels, and the session stays empty', async (_way, leave) => {
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const code = await question(page);
  await leave(page);
  await closed(page);
  expect(await event(page, 'cancel')).toMatchObject({ intent: idOf(code), reason: 'dismissed' });
  expect(await session(page)).toEqual({ user: null });
  await page.reload();
  expect((await seen(page)).map(([name]) => name)).not.toContain('success');
  expect(await session(page)).toEqual({ user: null });
  // The next attempt starts with the usual dialog.
  await begin(page);
  expect(await part(page, 'cancel').isVisible()).toBe(false);
  expect(await part(page, 'retry').isVisible()).toBe(false);
  expect(await part(page, 'code').isVisible()).toBe(true);
});

test('a payment with login succeeds also if the visitor declines the login', async () => {
  const { page } = await open(site.page({ script: buttonScript({ login: {} }) }));
  const code = await question(page, 'payment');
  await part(page, 'cancel').click();
  const success = await event(page, 'success');
  expect(success).toMatchObject({ intent: idOf(code) });
  expect(success).not.toHaveProperty('user');
  expect(await session(page)).toEqual({ user: null });
});
