import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';

const service = generateJwtKey();
const hourMs = 3_600_000;

async function begin({ origin, sequencer }: LedgerSite) {
  const browser = new Browser(origin, new Map(), 'https://shop.example');
  const secret = String((await browser.send('POST', '/intent', { mode: 'payment' })).body.client_secret);
  const id = intentIdOf(secret);
  return { id, browser, pay: () => sequencer.wallet().pay(secret), status: () => browser.send('GET', `/status/${id}`) };
}

describe('a ledger that would look in an hour looks at once', () => {
  let site: LedgerSite;
  const nudged = (id: string): number => site.faults.firstOf('nudge').filter((given) => given === id).length;
  beforeAll(async () => {
    site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl('postgres'),
      timing: { watchFirstMs: hourMs },
      webhook: true,
      serviceKey: service.publicKey,
      origin: 'https://shop.example',
    });
  }, 120_000);

  test('when a browser is told that it was submitted, once however often', async () => {
    const { id, pay, status } = await begin(site);
    await status();
    expect(nudged(id)).toBe(0);
    await pay();
    await eventually('the status says so', () => {
      void status();
      return nudged(id) > 0;
    });
    await untilState(site, id, 'settled');
    for (let time = 0; time < 5; time += 1) await status();
    expect(nudged(id)).toBe(1);
  });

  test('when a tab hears it on the stream', async () => {
    const { id, pay } = await begin(site);
    const tab = new RawStream(site.origin, `/intent/${id}/events`);
    await tab.has('event: status');
    await pay();
    await tab.has('event: intent_submitted');
    await untilState(site, id, 'settled');
    expect(nudged(id)).toBe(1);
  });

  test('when the service calls the webhook', async () => {
    const { id, pay } = await begin(site);
    await pay();
    const call = { method: 'POST', headers: { 'content-type': 'application/jwt' } };
    const body = jwtOf({ intent: id, state: 'SUBMITTED' }, service);
    expect((await fetch(`${site.origin}/intent/webhook`, { ...call, body })).status).toBe(204);
    await untilState(site, id, 'settled');
    expect(nudged(id)).toBe(1);
  });

  test('and not for what nobody has paid, whoever asks, however often', async () => {
    const { id, status } = await begin(site);
    const made = await site.router.client.paymentIntents.prepare({
      destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
      amount: 1,
      currency: 'usd',
    });
    const body = jwtOf({ intent: id, state: 'SUBMITTED' }, service);
    await fetch(`${site.origin}/intent/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/jwt' },
      body,
    });
    for (let time = 0; time < 5; time += 1) {
      await status();
      expect((await fetch(`${site.origin}/status/${made.id}`)).status).toBe(200);
    }
    const tab = new RawStream(site.origin, `/intent/${id}/events`);
    await tab.has('event: status');
    expect([nudged(id), nudged(made.id)]).toEqual([0, 0]);
    expect((await site.router.intents.find(id))?.state).toBe('open');
  });
});

test('what the ledger learns by itself it is not told again', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const site = await startLedgerSite({ databaseUrl, timing: { watchFirstMs: 1, roundMs: 20 } });
  const { id, pay } = await begin(site);
  await pay();
  await untilState(site, id, 'settled');
  expect(site.faults.firstOf('nudge')).toEqual([]);
}, 120_000);
