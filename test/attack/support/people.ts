import { Browser } from '../../support/browser/browser.js';
import { intentIdOf } from '../../support/sites/intent-id.js';

/** A login or a payment that a browser has begun. */
export interface Begun {
  readonly secret: string;
  readonly id: string;
}

/** Begins an intent, as the button of the page does. */
export async function begin(browser: Browser, body: object = { mode: 'login' }): Promise<Begun> {
  const answer = await browser.send('POST', '/intent', body);
  expect(answer.status).toBe(201);
  const secret = answer.body.client_secret as string;
  return { secret, id: intentIdOf(secret) };
}

/** Who the site says this browser is; null for nobody. */
export async function whoIs(browser: Browser): Promise<unknown> {
  const { body } = await browser.send('GET', '/session');
  const user = body.user as { id: string } | null;
  return user === null ? null : user.id;
}

/** Somebody at the site, whose browser knows nothing yet. */
export const someone = (site: { readonly origin: string }): Browser => new Browser(site.origin);
