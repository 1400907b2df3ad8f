// Compares the settlement of due payments with queues of jobs in Postgres, and measures the polls of unpaid payments. Used by run.mjs.
import { startPostgres } from './postgres.mjs';
import { startChild } from './process.mjs';
import { table } from './report.mjs';
import { medianOf } from './statistics.mjs';

/** By name: the variant of settlement-worker.mjs, the status that the service returns, and whether no statement has a name. */
const variants = {
  'express-intents': { variant: 'payments', submitted: true },
  'express-intents, as behind a pooler': { variant: 'payments', submitted: true, isPooled: true },
  'graphile-worker': { variant: 'graphileWorker' },
  'pg-boss, batches of 20': { variant: 'pgBoss' },
  'one poll of an unpaid payment': { variant: 'polls' },
  'one poll of an unpaid payment, as behind a pooler': { variant: 'polls', isPooled: true },
};

const servers = {
  'without fsync': {},
  'with fsync': { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
};

/** Processed before the measurement, so that the code is compiled. */
const warmUp = 500;

/** @returns for each server and variant its samples, one for each round. The variants of a round are in turns */
export async function measureSettlement({ rounds, payments }) {
  const stub = startChild('./stub.mjs');
  const { url } = await stub.call('addresses');
  const results = {};
  for (const [server, settings] of Object.entries(servers)) {
    const postgres = await startPostgres(settings);
    results[server] = Object.fromEntries(Object.keys(variants).map((name) => [name, { samples: [] }]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, { submitted = false, ...variant }] of Object.entries(variants)) {
        const worker = startChild('./settlement-worker.mjs');
        await stub.call('configure', {});
        await worker.call('prepare', {
          ...variant,
          url,
          databaseUrl: await postgres.newDatabase(),
          count: warmUp + payments,
        });
        await stub.call('configure', { submitted });
        results[server][name].samples.push(
          await worker.call('measure', { warmUp, payments, postgresPid: postgres.pid }),
        );
        worker.stop();
      }
    }
    await postgres.stop();
  }
  stub.stop();
  return results;
}

const columns = {
  'per second': 'perSecond',
  'process, CPU us': 'processUs',
  'Postgres, CPU us': 'postgresUs',
  'WAL bytes': 'walBytes',
  'round trips': 'roundTrips',
};

/** A table for each server. */
export function settlementTables(results) {
  return Object.entries(results)
    .map(([server, variants]) => {
      const rows = Object.entries(variants).map(([name, { samples }]) => [
        name,
        ...Object.values(columns).map((key) => Number(medianOf(samples, key).toPrecision(3)).toLocaleString('en')),
      ]);
      return table([`each payment or job, ${server}`, ...Object.keys(columns)], rows);
    })
    .join('\n');
}
