import { StatusRechecks } from '../../../src/http/webhook/status-rechecks.js';
import type { Ledger, LedgerIntent } from '../../../src/ledger/ledger.js';
import type { IntentStatus } from '../../../src/sequencer/calls.js';
import { type FetchStatus, StatusCache } from '../../../src/sequencer/watch/status-cache.js';
import { Browser } from '../../support/browser/browser.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';
import { startRelay } from '../../support/network/tcp-relay.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../../support/sites/ledger-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { startSite } from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';
import { pending, StatusTransport, submitted } from '../../support/transports/status-transport.js';

// The causes of a recheck, its limits, and the settlement that follows at once.

describe('StatusRechecks', () => {
  const settled = (): Promise<void> => new Promise(setImmediate);
  const unpaid = { exists: true, codeScanned: false, intentSubmitted: false };

  describe('of a submitted intent', () => {
    const fetchStatus: FetchStatus = async () => submitted;
    /** @param state the state that the ledger returns after its recheck */
    function recheckIn(kind: 'payment' | 'login', state: string, recheck: Ledger['recheck']): Promise<void> {
      let isRechecked = false;
      const ledger = {
        recheck: (id: string) => {
          isRechecked = true;
          return recheck(id);
        },
        find: async () => ({ kind, state: isRechecked ? state : 'created' }) as LedgerIntent,
      };
      return new StatusRechecks({ statusCache: new StatusCache({ fetchStatus, now: () => 0 }), ledger }).add('a');
    }

    test('resolves while the hook of the payment runs', async () => {
      const expire = holdTimeouts(2_000);
      await recheckIn('payment', 'submitted', () => {
        setImmediate(expire);
        return new Promise(() => undefined);
      });
    });

    test('reads the status of others while the hooks of four payments run', async () => {
      holdTimeouts(2_000);
      const rechecked: string[] = [];
      const ledger = {
        recheck: (id: string): Promise<void> => {
          rechecked.push(id);
          return new Promise(() => undefined);
        },
        find: async () => undefined,
      };
      const statusCache = new StatusCache({ fetchStatus, now: () => 0 });
      const rechecks = new StatusRechecks({ statusCache, ledger });
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      for (const id of ids) void rechecks.add(id);
      await settled();
      expect(rechecked).toEqual(ids);
    });

    test.each(['creating', 'created', 'reversed', 'expired'])(
      'rejects if the ledger has a payment that is %s',
      async (state) => {
        const failed = recheckIn('payment', state, async () => undefined);
        await expect(failed).rejects.toMatchObject({ code: 'ledger_unavailable', retryAfterMs: 5_000 });
      },
    );
  });

  test.each([
    ['created', 'sequencer_bad_response'],
    ['expired', 'sequencer_bad_response'],
    // Its submission was recorded before, so the service repeats an old call.
    ['reversed', 'done'],
    ['creating', 'done'],
    ['settled', 'done'],
  ])('of an intent that is not submitted, whose payment is %s: %s', async (state, outcome) => {
    const fetchStatus: FetchStatus = async () => unpaid;
    const ledger = { recheck: async () => undefined, find: async () => ({ kind: 'payment', state }) as LedgerIntent };
    const rechecks = new StatusRechecks({ statusCache: new StatusCache({ fetchStatus, now: () => 0 }), ledger });
    const ended = rechecks.add('a').then(
      () => 'done',
      ({ code }) => code,
    );
    expect(await ended).toBe(outcome);
  });
});

describe('a ledger whose next poll is an hour away', () => {
  const service = generateJwtKey();
  let site: LedgerSite;
  beforeAll(async () => {
    site = await startLedgerSite({
      ledger: { url: await newDatabaseUrl('postgres') },
      timing: { watchFirstMs: 3_600_000 },
      webhook: { publicKeys: [service.publicKey] },
      origin: 'https://shop.example',
    });
  });

  const rechecksOf = (id: string): number =>
    site.faults.firstOf('recheck').filter((recheckedId) => recheckedId === id).length;

  async function callWebhook(id: string): Promise<Response> {
    const headers = { 'content-type': 'application/jwt' };
    const body = jwtOf({ intent: id, state: 'SUBMITTED' }, service);
    return fetch(`${site.origin}/intent/webhook`, { method: 'POST', headers, body });
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

  test('settles after a repeated webhook call, if the first call arrived before the status was submitted', async () => {
    // A busy machine may need more than the two seconds that a call waits for the recheck.
    holdTimeouts(2_000);
    const { id, pay } = await begin(site);
    const early = await callWebhook(id);
    expect([early.status, await early.json()]).toMatchObject([502, { code: 'sequencer_bad_response' }]);
    await pay();
    expect((await callWebhook(id)).status).toBe(200);
    await untilState(site, id, 'settled');
  });

  test('receives no recheck of an unpaid intent, however often clients poll its status', async () => {
    const { id, status } = await begin(site);
    const unrecorded = await site.router.client.paymentIntents.prepare({
      destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
      amount: 1,
      currency: 'usd',
    });
    expect((await callWebhook(id)).status).toBe(502);
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

test('a webhook call during an outage of the database is answered 503, and its payment settles after the outage', async () => {
  const server = await startPostgres();
  const relay = await startRelay(server.socketPath);
  const service = generateJwtKey();
  const site = await startLedgerSite({
    ledger: { url: `postgres://postgres@127.0.0.1:${relay.port}/${await server.createDatabase()}` },
    timing: { watchFirstMs: 3_600_000 },
    webhook: { publicKeys: [service.publicKey] },
    origin: 'https://shop.example',
  });
  const { id, pay } = await begin(site);
  await pay();
  const headers = { 'content-type': 'application/jwt' };
  const body = jwtOf({ intent: id, state: 'SUBMITTED' }, service);
  const call = () => fetch(`${site.origin}/intent/webhook`, { method: 'POST', headers, body });
  // Every statement of the settlement fails from here on, and the search for the state, too.
  relay.sever();
  const answer = await call();
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'ledger_unavailable' }]);
  // More often than the ledger would retry a payment that another process has claimed.
  for (let rounds = 0; rounds < 6; rounds += 1) await site.router.intents.find(id).catch(() => undefined);
  relay.restore();
  await untilState(site, id, 'settled');
  await eventually('the repeated call is accepted', async () => (await call()).status === 200);
});

test('a ledger that has polled a payment itself receives no recheck of it', async () => {
  const databaseUrl = await newDatabaseUrl('postgres');
  const site = await startLedgerSite({ ledger: { url: databaseUrl }, timing: { watchFirstMs: 1, roundMs: 20 } });
  const { id, pay } = await begin(site);
  await pay();
  await untilState(site, id, 'settled');
  expect(site.faults.firstOf('recheck')).toEqual([]);
});

test('a ledger receives one recheck of an intent in five seconds while replicas of the service disagree', async () => {
  const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
  let nowMs = Date.now();
  let rechecks = 0;
  let statusCache: StatusCache | undefined;
  const ledger = {
    recheck: async () => {
      rechecks += 1;
    },
    close: async () => undefined,
  };
  const transport = new StatusTransport();
  await startSite({
    sequencer: { url: 'https://sequencer.example', transport },
    testClock: () => nowMs,
    makeLedger: (parts) => {
      statusCache = parts.statusCache;
      return ledger as unknown as Ledger;
    },
  });
  /** The watch of an event stream reads the status; `status` is the answer of the next replica. */
  const poll = async (status: IntentStatus): Promise<void> => {
    transport.answer = status;
    expect(await statusCache?.get(id, { bypassCache: true, source: 'stream' })).toEqual(status);
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

async function begin({ origin, simulator }: LedgerSite) {
  const browser = new Browser(origin, new Map(), 'https://shop.example');
  const secret = String((await browser.send('POST', '/intent', { mode: 'payment' })).body.client_secret);
  const id = intentIdOf(secret);
  return { id, pay: () => simulator.wallet().pay(secret), status: () => browser.send('GET', `/status/${id}`) };
}
