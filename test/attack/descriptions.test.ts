import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { startLedgerSite } from '../support/sites/ledger-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { type Site, startSiteWithSimulator } from '../support/sites/site.js';

const description = 'Pregnancy test, "early" \u{1f375}';
const payment = () => ({ amount: '4.50', currency: 'usd', description });
const frame = `event: description\ndata: ${JSON.stringify({ description })}\n\n`;

const create = async (browser: Browser, body: object = { mode: 'payment', order: 1 }): Promise<string> =>
  intentIdOf(String((await browser.send('POST', '/intent', body)).body.client_secret));

/** The frames up to the status, as this browser receives them. */
async function framesFor(site: Site, id: string, browser?: Browser): Promise<string> {
  const cookie = [...(browser?.cookies ?? [])].map(([name, value]) => `Cookie: ${name}=${value}`);
  const stream = new RawStream(site.origin, `/intent/${id}/events`, cookie);
  await stream.has('event: status');
  stream.socket.destroy();
  return Buffer.from(stream.body, 'latin1').toString();
}

describe('the description of a payment', () => {
  test('reaches only the browser that created it', async () => {
    const site = await startSiteWithSimulator({ payment });
    const [payer, thief] = [new Browser(site.origin), new Browser(site.origin)];
    const id = await create(payer);
    await create(thief);
    const frames = await framesFor(site, id, payer);
    expect(frames.replace(/^retry.*\n\n/, '').startsWith(frame)).toBe(true);
    for (const other of [thief, undefined]) expect(await framesFor(site, id, other)).not.toContain('description');
    const status = await thief.send('GET', `/status/${id}`);
    expect(Object.keys(status.body)).toEqual(['exists', 'code_scanned', 'intent_submitted']);
    expect(site.log.text).not.toContain('Pregnancy');
  });

  test('reaches that browser from another process too, and no other browser', async () => {
    const databaseUrl = await newDatabaseUrl('postgres');
    const first = await startLedgerSite({ ledger: { url: databaseUrl }, payment });
    const second = await startLedgerSite({ ledger: { url: databaseUrl }, payment, runningSimulator: first.simulator });
    const [payer, thief] = [new Browser(first.origin), new Browser(first.origin)];
    const headers = { 'Idempotency-Key': 'one' };
    const { body } = await payer.send('POST', '/intent', { order: 1 }, headers);
    const keyed = intentIdOf(String(body.client_secret));
    await create(thief);
    for (const id of [keyed, await create(payer)]) {
      for (const other of [thief, undefined]) expect(await framesFor(second, id, other)).not.toContain('description');
      expect(await framesFor(second, id, payer)).toContain(frame);
      // The second process has cached it by now.
      for (const other of [thief, undefined]) expect(await framesFor(second, id, other)).not.toContain('description');
    }
  });

  test('is not sent for a payment without one, or for a login', async () => {
    const site = await startSiteWithSimulator();
    const browser = new Browser(site.origin);
    const ids = [await create(browser), await create(browser, { mode: 'login' })];
    for (const id of ids) expect(await framesFor(site, id, browser)).not.toContain('description');
  });

  test('is not accepted from the browser', async () => {
    const site = await startSiteWithSimulator();
    const { status, body } = await new Browser(site.origin).send('POST', '/intent', { order: 1, description: 'Gold' });
    expect([status, body.code]).toEqual([400, 'terms_not_accepted']);
  });
});
