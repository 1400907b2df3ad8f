import { StatusRechecks, type StatusRechecksOptions } from '../../../src/http/webhook/status-rechecks.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { IntentStatus } from '../../../src/sequencer/calls.js';
import { type FetchStatus, StatusCache } from '../../../src/sequencer/watch/status-cache.js';
import { Browser } from '../../support/browser/browser.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../../support/sites/ledger-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { LogRecorder, startSite } from '../../support/sites/site.js';
import { pending, StatusTransport, submitted } from '../../support/transports/status-transport.js';

// The causes of a recheck, its limits, and the settlement that follows at once.

describe('StatusRechecks', () => {
  const settled = (): Promise<void> => new Promise(setImmediate);
  const unpaid = { exists: true, codeScanned: false, intentSubmitted: false };

  /** Rechecks whose calls to the sequencer end on `endFirst`. */
  function startRechecks(options: Partial<StatusRechecksOptions> = {}) {
    const polled: string[] = [];
    const open: { id: string; end: (error?: Error) => void }[] = [];
    const logger = new LogRecorder();
    const ask: FetchStatus = (id) => {
      polled.push(id);
      return new Promise((resolve, reject) => {
        open.push({ id, end: (error) => (error ? reject(error) : resolve(unpaid)) });
      });
    };
    const endFirst = async (error?: Error): Promise<void> => {
      open.shift()?.end(error);
      await settled();
    };
    const statusCache = new StatusCache({ fetchStatus: ask, now: () => 0 });
    const rechecks = new StatusRechecks({ statusCache, logger, ...options });
    return { recheck: (id: string) => rechecks.add(id), polled, open, endFirst, logger };
  }

  test('calls the sequencer at once', () => {
    const { recheck, polled } = startRechecks();
    recheck('a');
    expect(polled).toEqual(['a']);
  });

  test('waits for the running call of the same intent, and merges ten rechecks into one', async () => {
    const { recheck, polled, endFirst } = startRechecks();
    for (let n = 0; n < 10; n += 1) recheck('a');
    expect(polled).toEqual(['a']);
    await endFirst();
    expect(polled).toEqual(['a', 'a']);
    await endFirst();
    expect(polled).toEqual(['a', 'a']);
    recheck('a');
    expect(polled).toEqual(['a', 'a', 'a']);
  });

  test('limits the concurrent calls', async () => {
    const { recheck, polled, open, endFirst } = startRechecks({ concurrency: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'c']) recheck(id);
    expect(polled).toEqual(['a', 'b']);
    await endFirst();
    expect(polled).toEqual(['a', 'b', 'c']);
    expect(open).toHaveLength(2);
    await endFirst();
    await endFirst();
    await endFirst();
    expect(polled).toEqual(['a', 'b', 'c', 'd']);
    expect(open).toHaveLength(0);
  });

  test('by default runs four calls, queues a thousand rechecks, and drops the others', async () => {
    const { recheck, polled, open, endFirst } = startRechecks();
    const added = Array.from({ length: 2_000 }, (_, n) => recheck(`intent ${n}`));
    expect(added.filter(Boolean)).toHaveLength(1_004);
    expect(recheck('intent 4')).toBe(true);
    expect(polled).toHaveLength(4);
    while (open.length > 0) await endFirst();
    expect(polled).toHaveLength(1_004);
  });

  test('logs a failed recheck and continues with the next', async () => {
    const { recheck, polled, endFirst, logger } = startRechecks({ concurrency: 1 });
    recheck('a');
    recheck('b');
    await endFirst(new Error('no line'));
    expect(polled).toEqual(['a', 'b']);
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
      webhookPublicKey: service.publicKey,
      origin: 'https://shop.example',
    });
  });

  const rechecksOf = (id: string): number =>
    site.faults.firstOf('recheck').filter((recheckedId) => recheckedId === id).length;

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

  test('receives no recheck of an unpaid intent, however often clients poll its status', async () => {
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
    expect((await site.router.intents.find(id))?.state).toBe('created');
  });
});

test('a ledger that has polled a payment itself receives no recheck of it', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const site = await startLedgerSite({ databaseUrl, timing: { watchFirstMs: 1, roundMs: 20 } });
  const { id, pay } = await begin(site);
  await pay();
  await untilState(site, id, 'settled');
  expect(site.faults.firstOf('recheck')).toEqual([]);
});

test('a ledger receives one recheck of an intent in five seconds while replicas of the service disagree', async () => {
  const service = generateJwtKey();
  const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
  let nowMs = Date.now();
  let rechecks = 0;
  const ledger = {
    recheck: async () => {
      rechecks += 1;
    },
    close: async () => undefined,
  };
  const transport = new StatusTransport();
  const { origin } = await startSite({
    sequencerUrl: 'https://sequencer.example',
    transport,
    origin: 'https://shop.example',
    webhook: true,
    webhookPublicKey: service.publicKey,
    rateLimits: false,
    now: () => nowMs,
    makeLedger: () => ledger as unknown as Ledger,
  });
  let calls = 0;
  /** A webhook call makes the router poll; `status` is the answer of the next replica. */
  const poll = async (status: IntentStatus): Promise<void> => {
    transport.answer = status;
    calls += 1;
    const body = jwtOf({ intent: id, state: 'SUBMITTED', calls }, service);
    await fetch(`${origin}/intent/webhook`, { method: 'POST', headers: { 'content-type': 'application/jwt' }, body });
    await eventually(`${calls} polls`, () => transport.callCount === calls);
    await new Promise(setImmediate);
  };

  for (let time = 0; time < 3; time += 1) {
    await poll(submitted);
    await poll(pending);
  }
  expect(rechecks).toBe(1);
  nowMs += 4_999;
  await poll(submitted);
  await poll(pending);
  expect(rechecks).toBe(1);
  nowMs += 1;
  await poll(submitted);
  expect(rechecks).toBe(2);
});

async function begin({ origin, sequencer }: LedgerSite) {
  const browser = new Browser(origin, new Map(), 'https://shop.example');
  const secret = String((await browser.send('POST', '/intent', { mode: 'payment' })).body.client_secret);
  const id = intentIdOf(secret);
  return { id, pay: () => sequencer.wallet().pay(secret), status: () => browser.send('GET', `/status/${id}`) };
}
