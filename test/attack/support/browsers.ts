import { Browser } from '../../support/browser/browser.js';
import { intentIdOf } from '../../support/sites/intent-id.js';

/** A login or a payment that a browser has created. */
export interface BrowserIntent {
  readonly secret: string;
  readonly id: string;
}

/** Creates an intent, as the button of the page does. */
export async function createIntent(browser: Browser, body: object = { mode: 'login' }): Promise<BrowserIntent> {
  const answer = await browser.send('POST', '/intent', body);
  expect(answer.status).toBe(201);
  const secret = answer.body.client_secret as string;
  return { secret, id: intentIdOf(secret) };
}

/** The id of the logged-in user of a browser, or null. */
export async function currentUserId(browser: Browser): Promise<unknown> {
  const { body } = await browser.send('GET', '/session');
  const user = body.user as { id: string } | null;
  return user === null ? null : user.id;
}

/** A browser without cookies. */
export const newBrowser = (site: { readonly origin: string }): Browser => new Browser(site.origin);
