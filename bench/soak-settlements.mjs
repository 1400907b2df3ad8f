// The traffic `settlements` of soak.mjs: payments are created over HTTP at a constant rate, and settle in Postgres with autovacuum.
// Tables and indexes must not grow more than their rows.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from './postgres.mjs';
import { startChild } from './process.mjs';

const sampleMs = 60_000;
/** Tables and indexes are free of bloat if the last bytes for each row are at most this share above those of half of the run. */
const maxGrowth = 0.05;
const tables = ['intents', 'payments', 'history'];
const print = (line) => process.stdout.write(`${line}\n`);

async function sampleOf(db) {
  const { rows } = await db.query(
    `select relname as table, n_live_tup as live, n_dead_tup as dead, autovacuum_count as vacuums,
       pg_table_size(relid)::float8 as heap, pg_indexes_size(relid)::float8 as indexes
     from pg_stat_user_tables where schemaname = 'express_intents' and relname = any($1) order by relname`,
    [tables],
  );
  const { rows: counts } = await db.query(
    `select count(*)::float8 as payments, count(settled_at)::float8 as settled from express_intents.payments`,
  );
  return { ...counts[0], tables: Object.fromEntries(rows.map(({ table, ...row }) => [table, row])) };
}

/** Bytes for each payment, by table and kind. */
const bytesOf = ({ payments, tables }) =>
  Object.entries(tables).flatMap(([table, row]) =>
    ['heap', 'indexes'].map((kind) => ({ name: `${table} ${kind}`, bytes: row[kind] / payments })),
  );

/** @returns whether nothing grew, and every payment settled once */
export async function soakSettlements({ minutes, perSecond, out }) {
  const postgres = await startPostgres({ autovacuum: 'on', autovacuum_naptime: '10s' });
  const databaseUrl = await postgres.newDatabase();
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const stub = startChild('./stub.mjs');
  const worker = startChild('./settlement-worker.mjs');
  const { url } = await stub.call('addresses');
  await stub.call('configure', { submitted: true });
  await worker.call('soak', { url, databaseUrl, perSecond });
  const samples = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    await setTimeout(sampleMs);
    const sample = { minute, ...(await sampleOf(db)) };
    samples.push(sample);
    const sizes = bytesOf(sample).map(({ name, bytes }) => `${name} ${Math.round(bytes)}`);
    print(`${minute} min: ${sample.payments} created, ${sample.settled} settled; bytes each: ${sizes.join(', ')}`);
  }
  const { created, effects } = await worker.call('endSoak');
  worker.stop();
  stub.stop();
  await db.end();
  await postgres.stop();
  const middle = bytesOf(samples[Math.floor(samples.length / 2)]);
  const growth = bytesOf(samples.at(-1)).map(({ name, bytes }, index) => ({
    name,
    share: bytes / middle[index].bytes - 1,
  }));
  for (const { name, share } of growth) print(`${name}: ${(share * 100).toFixed(1)} % from the middle to the end`);
  print(`${created} created, ${effects} fulfilled`);
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, 'soak-settlements.json'), JSON.stringify({ perSecond, samples, growth }, null, 2));
  return created === effects && growth.every(({ share }) => share <= maxGrowth);
}
