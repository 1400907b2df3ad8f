// What it costs to look for payments that are due, beside few and beside many that are open and not due.
//   node bench/due.mjs [--open 1000,100000]
// Needs a build. Ends with 1 when it costs more than twice the buffers beside many, or when a table of over 10,000
// is read from end to end; of a small one that may well be the quickest.
import { parseArgs } from 'node:util';
import { migrate } from '../build/ledger/migrate.js';
import { openPostgres } from '../build/ledger/postgres.js';
import { defaultTiming } from '../build/ledger/settlement-timing.js';
import { claimDue } from '../build/ledger/work.js';
import { startPostgres } from './postgres.mjs';

const { values } = parseArgs({ options: { open: { type: 'string', default: '1000,100000' } } });
const counts = values.open.split(',').map(Number);
const rounds = 200;
const dueAtOnce = 6;

const postgres = await startPostgres();
const db = await openPostgres({ url: postgres.url('postgres') });
await migrate(db);

/** Open payments, due from an hour from now on; some of them were looked at before, and left what is dead in the index. */
const insert = `insert into express_intents.intents
    (id, kind, amount, currency, destination, metadata, browser, state, due_at, watch_until)
  select 'payment' || lpad(n::text, 30, '0'), 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', '{}',
    '\\x07', 'open', now() + interval '1 hour' + n * interval '1 millisecond', now() + interval '30 days'
  from generate_series(1, $1::int) n`;
const makeDue = `update express_intents.intents set due_at = now() - interval '1 second', leased_until = null
  where id in (select 'payment' || lpad(n::text, 30, '0') from generate_series(1, ${dueAtOnce}) n)`;

/** The statement of a claim, as the ledger says it. */
async function explain(prefix) {
  let lines = [];
  const query = async (sql, given) => {
    ({ rows: lines } = await db.query(`${prefix} ${sql}`, given));
    return { rows: [] };
  };
  await claimDue({ query }, { first: dueAtOnce, retry: 1, slow: 1, alone: 1 }, defaultTiming);
  return lines.map((line) => line['QUERY PLAN']);
}

/** Median, in milliseconds. */
async function timeOf(before) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    await before();
    const startMs = performance.now();
    await claimDue(db, { first: dueAtOnce, retry: 1, slow: 1, alone: 1 }, defaultTiming);
    times.push(performance.now() - startMs);
  }
  return times.sort((one, other) => one - other)[Math.floor(rounds / 2)].toFixed(2);
}

// What every process pays once is paid before.
await timeOf(async () => undefined);

const buffers = [];
let readsAll = false;
for (const count of counts) {
  await db.query('truncate express_intents.intents, express_intents.history');
  await db.query(insert, [count]);
  await db.query('vacuum analyze express_intents.intents');
  const idleMs = await timeOf(async () => undefined);
  const busyMs = await timeOf(() => db.query(makeDue));
  await db.query('vacuum analyze express_intents.intents');
  await db.query(makeDue);
  await explain('explain (analyze, buffers)');
  await db.query(makeDue);
  const plan = await explain('explain (analyze, buffers)');
  const [, shared] = plan.join('\n').match(/Buffers: shared hit=(\d+)/) ?? [];
  buffers.push(Number(shared));
  readsAll ||= count > 10_000 && plan.some((line) => line.includes('Seq Scan'));
  process.stdout.write(
    `${count} open: ${idleMs} ms with nothing due, ${busyMs} ms with ${dueAtOnce} due, ${shared} buffers (medians of ${rounds})\n` +
      `${plan.map((line) => `  ${line}`).join('\n')}\n\n`,
  );
}
await db.close();
postgres.stop();

const grows = Math.max(...buffers) > 2 * Math.min(...buffers);
if (readsAll || grows) process.stdout.write('FAILED\n');
process.exitCode = readsAll || grows ? 1 : 0;
