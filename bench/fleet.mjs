// The cost of a request in a fleet of three processes, compared with three processes that each have their own database, and
// with a single process. The load of each process is the same.
//   node bench/fleet.mjs [--only login] [--rounds 5] [--ms 3000] [--per-second 80] [--warm-ms 2000]
// Requires a build. Each fleet has its own Postgres. They are measured in turns. On few cores, three processes compete for
// caches and CPU time even if they share nothing else: the three processes apart show this cost. Writes bench/results/fleet.md.
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  background,
  measureIdle,
  measureRate,
  requests,
  startFleet,
  startUpstream,
  stopFleet,
  warmUp,
} from './fleet-measure.mjs';
import { table } from './report.mjs';
import { medianOf, ratioOf } from './statistics.mjs';

const workloads = [...requests, ...Object.keys(background)];
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: workloads },
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '3000' },
    'per-second': { type: 'string', default: '80' },
    'warm-ms': { type: 'string', default: '2000' },
  },
});
const [rounds, ms, perSecond, warmMs] = ['rounds', 'ms', 'per-second', 'warm-ms'].map((name) => Number(values[name]));

const upstream = startUpstream();
const [one, apart, together] = await Promise.all([
  startFleet(1, upstream),
  startFleet(3, upstream, { isApart: true }),
  startFleet(3, upstream),
]);
const fleets = { one, apart, together };
for (const fleet of Object.values(fleets)) await warmUp(fleet, values.only, warmMs * fleet.size);

const samples = Object.fromEntries(
  ['idle', ...values.only].map((workload) => [workload, { one: [], apart: [], together: [] }]),
);
for (let round = 0; round < rounds; round += 1) {
  for (const [workload, sampled] of Object.entries(samples)) {
    for (const [name, fleet] of Object.entries(fleets)) {
      const pace = { ms, perSecond: perSecond * fleet.size };
      sampled[name].push(await (workload === 'idle' ? measureIdle(fleet, ms) : measureRate(fleet, workload, pace)));
    }
  }
}
for (const fleet of Object.values(fleets)) await stopFleet(fleet);
upstream.stop();

const us = (list, key) => medianOf(list, key).toFixed(0);
const ratio = (list, others, key) => (medianOf(others, key) > 0 ? ratioOf(list, others, key).toFixed(2) : '');
const rowsOf = (key) =>
  Object.entries(samples)
    .filter(([workload]) => workload !== 'idle')
    .map(([workload, { one, apart, together }]) => {
      const ratios = [ratio(together, apart, key), ratio(together, one, key)];
      return [workload, us(one, key), us(apart, key), us(together, key), ...ratios];
    });
const head = (what) => [what, 'one', 'three apart', 'three together', 'together / apart', 'together / one'];
const idleRow = ([name, list]) => [name, us(list, 'siteUs'), us(list, 'postgresUs')];
const text = [
  `Node ${process.versions.node}, ${perSecond} requests per second and process, medians of ${rounds} windows of ${ms} ms in turns.\n`,
  table(head('CPU of the site processes, us'), rowsOf('siteUs')),
  table(head('CPU of Postgres, us'), rowsOf('postgresUs')),
  table(['an idle second', 'site, us', 'Postgres, us'], Object.entries(samples.idle).map(idleRow)),
].join('\n');
process.stdout.write(text);
const folder = new URL('./results/', import.meta.url);
await mkdir(folder, { recursive: true });
await writeFile(new URL('fleet.md', folder), text);
