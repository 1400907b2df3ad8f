// How long it takes from the moment in which a wallet submits a payment until `onPaid` is called: a site with its ledger in
// a real Postgres in one process, the sequencer and the browsers in another.
//   node bench/settle.mjs [--payments 100] [--visit-ms 12000]
// Needs a build. Ends with 1 when a payment is not settled, or when 99 of 100 are later than they may be: 1 s with a
// stream of events or a webhook; without, the time to the next question and 1 s.
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { defaultTiming, untilNextLookMs } from '../build/ledger/settlement-timing.js';
import { startSequencer } from '../dist/testing.js';
import { startChild } from './child.mjs';
import { startPostgres } from './postgres.mjs';

const { values } = parseArgs({
  options: { payments: { type: 'string', default: '100' }, 'visit-ms': { type: 'string', default: '12000' } },
});
const payments = Number(values.payments);
/** From the creation of an intent to its payment, at most. */
const longestVisitMs = Number(values['visit-ms']);
const shortestVisitMs = 500;

const postgres = await startPostgres();
const sequencer = await startSequencer();

/** Starts a site with a ledger of its own. */
async function startSite(database, webhook) {
  await postgres.createDatabase(database);
  const child = startChild('./settle-server.mjs');
  const { url: sequencerUrl, serviceKey } = sequencer;
  const origin = await child.ask('start', { sequencerUrl, serviceKey, webhook, databaseUrl: postgres.url(database) });
  return { child, origin };
}
const plainSite = await startSite('plain', false);
const sites = { 'no page, a webhook': await startSite('webhook', true) };

/** What a page does until it is closed. */
const pages = {
  'a page with a stream of events': async (origin, id, signal) => {
    const { body } = await request(`${origin}/intent/${id}/events`, {
      headers: { accept: 'text/event-stream' },
      signal,
    });
    for await (const _chunk of body);
  },
  'a page that asks every second': async (origin, id, signal) => {
    while (!signal.aborted) {
      const { body } = await request(`${origin}/status/${id}`, { signal });
      await body.dump();
      await wait(1_000);
    }
  },
  'no page, a webhook': undefined,
  'no page, no webhook': undefined,
};

async function create(origin) {
  const { statusCode, body } = await request(`${origin}/intent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: '{"mode":"payment"}',
  });
  if (statusCode !== 201) throw new Error(await body.text());
  return (await body.json()).client_secret;
}

/** One customer. @returns what is to be known of the payment */
async function buy(origin, page, index) {
  await wait((index * longestVisitMs) / 2 / payments);
  const closing = new AbortController();
  const createdMs = Date.now();
  const secret = await create(origin);
  const { id } = await sequencer.wallet().scan(secret);
  page?.(origin, id, closing.signal).catch(() => undefined);
  await wait(shortestVisitMs + Math.random() * (longestVisitMs - shortestVisitMs));
  const submittedMs = Date.now();
  await sequencer.wallet().pay(secret);
  return { id, submittedMs, ageMs: submittedMs - createdMs, closing };
}

async function measure(name) {
  const { child, origin } = sites[name] ?? plainSite;
  const bought = await Promise.all(Array.from({ length: payments }, (_, index) => buy(origin, pages[name], index)));
  let paid = {};
  for (
    const endMs = Date.now() + 30_000;
    Date.now() < endMs && !bought.every(({ id }) => id in paid);
    await wait(100)
  ) {
    paid = await child.ask('paid');
  }
  for (const { closing } of bought) closing.abort();
  return bought.map(({ id, submittedMs, ageMs }) => ({ lateMs: (paid[id] ?? Infinity) - submittedMs, ageMs }));
}

/** Looks are drawn up to a tenth later. */
const nextLookMs = (ageMs) => 1.1 * untilNextLookMs(ageMs, defaultTiming);
/** How long a payment may have to wait until somebody asks. */
const waits = { 'a page that asks every second': () => 1_000, 'no page, no webhook': nextLookMs };
const at = (sorted, share) => sorted[Math.ceil(sorted.length * share) - 1];

let isFault = false;
process.stdout.write(
  `from submitted to onPaid, ${payments} payments each, Node ${process.versions.node}, in milliseconds\n`,
);
for (const name of Object.keys(pages)) {
  const measured = await measure(name);
  const late = measured.map(({ lateMs }) => lateMs).sort((one, other) => one - other);
  const boundMs = (ageMs) => 1_000 + (waits[name]?.(ageMs) ?? 0);
  const settled = measured.filter(({ lateMs }) => lateMs < Infinity).length;
  const over = measured.filter(({ lateMs, ageMs }) => lateMs > boundMs(ageMs)).length;
  isFault ||= settled < payments || over > payments / 100;
  process.stdout.write(
    `  ${name.padEnd(32)} ${settled} settled: median ${at(late, 0.5)}  p90 ${at(late, 0.9)}  p99 ${at(late, 0.99)}  longest ${late.at(-1)}  later than it may be: ${over}\n`,
  );
}
for (const { child } of [plainSite, ...Object.values(sites)]) child.stop();
await sequencer.close();
postgres.stop();
if (isFault) process.stdout.write('FAILED\n');
process.exitCode = isFault ? 1 : 0;
