import { StatusRechecks, type StatusRechecksOptions } from '../../src/http/webhook/status-rechecks.js';
import { type AskStatus, StatusCache } from '../../src/sequencer/watch/status-cache.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { LogRecorder } from '../support/sites/site.js';

// What starts a recheck of an intent on the Express side, how often, and that the ledger then settles at once.

describe('a recheck after a webhook call', () => {
  const settled = (): Promise<void> => new Promise(setImmediate);
  const unpaid = { exists: true, codeScanned: false, intentSubmitted: false };

  /** Rechecks whose calls to the sequencer end when the test says so. */
  function startRechecks(options: Partial<StatusRechecksOptions> = {}) {
    const asked: string[] = [];
    const open: { id: string; end: (error?: Error) => void }[] = [];
    const logger = new LogRecorder();
    const ask: AskStatus = (id) => {
      asked.push(id);
      return new Promise((resolve, reject) => {
        open.push({ id, end: (error) => (error ? reject(error) : resolve(unpaid)) });
      });
    };
    const endFirst = async (error?: Error): Promise<void> => {
      open.shift()?.end(error);
      await settled();
    };
    const statusCache = new StatusCache({ ask, now: () => 0 });
    const rechecks = new StatusRechecks({ statusCache, logger, ...options });
    return { recheck: (id: string) => rechecks.add(id), asked, open, endFirst, logger };
  }

  test('calls the sequencer at once', () => {
    const { recheck, asked } = startRechecks();
    recheck('a');
    expect(asked).toEqual(['a']);
  });

  test('waits for the call that runs for the same intent, and ten of them become one', async () => {
    const { recheck, asked, endFirst } = startRechecks();
    for (let n = 0; n < 10; n += 1) recheck('a');
    expect(asked).toEqual(['a']);
    await endFirst();
    expect(asked).toEqual(['a', 'a']);
    await endFirst();
    expect(asked).toEqual(['a', 'a']);
    recheck('a');
    expect(asked).toEqual(['a', 'a', 'a']);
  });

  test('waits for its turn when as many calls run as are allowed', async () => {
    const { recheck, asked, open, endFirst } = startRechecks({ concurrency: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'c']) recheck(id);
    expect(asked).toEqual(['a', 'b']);
    await endFirst();
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(open).toHaveLength(2);
    await endFirst();
    await endFirst();
    await endFirst();
    expect(asked).toEqual(['a', 'b', 'c', 'd']);
    expect(open).toHaveLength(0);
  });

  test('is dropped by default when four calls run and a thousand rechecks wait', async () => {
    const { recheck, asked, open, endFirst } = startRechecks();
    for (let n = 0; n < 2_000; n += 1) recheck(`intent ${n}`);
    expect(asked).toHaveLength(4);
    while (open.length > 0) await endFirst();
    expect(asked).toHaveLength(1_004);
  });

  test('that fails is logged, and the next one follows', async () => {
    const { recheck, asked, endFirst, logger } = startRechecks({ concurrency: 1 });
    recheck('a');
    recheck('b');
    await endFirst(new Error('no line'));
    expect(asked).toEqual(['a', 'b']);
    expect(logger.lines).toEqual([expect.stringContaining('cannot read the status of a after a webhook call')]);
    expect(logger.text).toContain('no line');
  });
});

describe('a ledger whose next poll is an hour away', () => {
  const service = generateJwtKey();
  let site: LedgerSite;
  beforeAll(async () => {
    site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl('postgres'),
      timing: { watchFirstMs: 3_600_000 },
      webhook: true,
      serviceKey: service.publicKey,
      origin: 'https://shop.example',
    });
  });

  const rechecksOf = (id: string): number => site.faults.firstOf('recheck').filter((given) => given === id).length;

  async function callWebhook(id: string): Promise<void> {
    const headers = { 'content-type': 'application/jwt' };
    const body = jwtOf({ intent: id, state: 'SUBMITTED' }, service);
    const { status } = await fetch(`${site.origin}/intent/webhook`, { method: 'POST', headers, body });
    expect(status).toBe(200);
  }

  test('settles after GET /status/:id has reported the submission, with one recheck for all answers', async () => {
    const { id, pay, status } = await begin(site);
    await status();
    expect(rechecksOf(id)).toBe(0);
    await pay();
    await eventually('the status is submitted', async () => (await status()).body.intent_submitted === true);
    await untilState(site, id, 'settled');
    for (let time = 0; time < 5; time += 1) await status();
    expect(rechecksOf(id)).toBe(1);
  });

  test('settles after an event stream has reported the submission', async () => {
    const { id, pay } = await begin(site);
    const stream = new RawStream(site.origin, `/intent/${id}/events`);
    await stream.has('event: status');
    await pay();
    await stream.has('event: intent_submitted');
    await untilState(site, id, 'settled');
    expect(rechecksOf(id)).toBe(1);
  });

  test('settles after a webhook call', async () => {
    const { id, pay } = await begin(site);
    await pay();
    await callWebhook(id);
    await untilState(site, id, 'settled');
    expect(rechecksOf(id)).toBe(1);
  });

  test('is not asked to recheck what is not paid, however often clients ask for its status', async () => {
    const { id, status } = await begin(site);
    const unrecorded = await site.router.client.paymentIntents.prepare({
      destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
      amount: 1,
      currency: 'usd',
    });
    await callWebhook(id);
    for (let time = 0; time < 5; time += 1) {
      await status();
      expect((await fetch(`${site.origin}/status/${unrecorded.id}`)).status).toBe(200);
    }
    const stream = new RawStream(site.origin, `/intent/${id}/events`);
    await stream.has('event: status');
    expect([rechecksOf(id), rechecksOf(unrecorded.id)]).toEqual([0, 0]);
    expect((await site.router.intents.find(id))?.state).toBe('open');
  });
});

test('a ledger that has polled a payment itself is not asked to recheck it', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const site = await startLedgerSite({ databaseUrl, timing: { watchFirstMs: 1, roundMs: 20 } });
  const { id, pay } = await begin(site);
  await pay();
  await untilState(site, id, 'settled');
  expect(site.faults.firstOf('recheck')).toEqual([]);
});

async function begin({ origin, sequencer }: LedgerSite) {
  const browser = new Browser(origin, new Map(), 'https://shop.example');
  const secret = String((await browser.send('POST', '/intent', { mode: 'payment' })).body.client_secret);
  const id = intentIdOf(secret);
  return { id, pay: () => sequencer.wallet().pay(secret), status: () => browser.send('GET', `/status/${id}`) };
}
