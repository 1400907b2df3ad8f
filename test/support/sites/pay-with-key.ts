import { Browser } from '../browser/browser.js';
import { intentIdOf } from './intent-id.js';
import { type LedgerSite, untilState } from './ledger-site.js';

/** Creates a payment with an idempotency key, repeats the request, pays it and waits until it has settled. @returns its id */
export async function payWithKey(site: LedgerSite, key: string): Promise<string> {
  const browser = new Browser(site.origin);
  const create = async (): Promise<string> => {
    const { status, body } = await browser.send('POST', '/intent', { mode: 'payment' }, { 'idempotency-key': key });
    expect({ status, body }).toEqual({ status: 201, body: { client_secret: expect.any(String) } });
    return String(body.client_secret);
  };
  const secret = await create();
  expect(await create()).toBe(secret);
  const id = intentIdOf(secret);
  await site.simulator.wallet().pay(secret);
  expect((await browser.send('GET', `/status/${id}`)).status).toBe(200);
  await untilState(site, id, 'settled');
  return id;
}
