// What a request costs in a fleet of three processes, beside what it costs in one: with the same load for each process, and
// with the same load for all together.
//   node bench/fleet.mjs [--only login] [--rounds 5] [--ms 3000] [--per-second 80] [--warm-ms 2000]
// Needs a build. Each fleet has a Postgres of its own; they are measured in turns. Writes bench/results/fleet.md.
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  chores,
  measureIdle,
  measureWork,
  requests,
  startFleet,
  startUpstream,
  stopFleet,
  warmUp,
} from './fleet-parts.mjs';
import { medianOf, ratioOf } from './measure.mjs';
import { table } from './report.mjs';

const works = [...Object.keys(requests), ...Object.keys(chores)];
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: works },
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '3000' },
    'per-second': { type: 'string', default: '80' },
    'warm-ms': { type: 'string', default: '2000' },
  },
});
const [rounds, ms, perSecond, warmMs] = ['rounds', 'ms', 'per-second', 'warm-ms'].map((name) => Number(values[name]));

const upstream = startUpstream();
const [one, three] = await Promise.all([startFleet(1, upstream), startFleet(3, upstream)]);
for (const fleet of [one, three]) await warmUp(fleet, values.only, warmMs * fleet.size);

/** Each is a fleet and its load: so many a second for all its processes. */
const ways = {
  one: [one, perSecond],
  'one, with the load of three': [one, 3 * perSecond],
  three: [three, 3 * perSecond],
};
const samples = Object.fromEntries(['idle', ...values.only].map((work) => [work, {}]));
for (let round = 0; round < rounds; round += 1) {
  for (const [way, [fleet, pace]] of Object.entries(ways)) {
    for (const work of Object.keys(samples)) {
      if (work === 'idle' && pace > perSecond * fleet.size) continue;
      const sample =
        work === 'idle' ? await measureIdle(fleet, ms) : await measureWork(fleet, work, { ms, perSecond: pace });
      samples[work][way] ??= [];
      samples[work][way].push(sample);
    }
  }
}
for (const fleet of [one, three]) await stopFleet(fleet);
upstream.stop();

const us = (list, key) => (list ? medianOf(list, key).toFixed(0) : '');
const ratio = (list, others, key) =>
  list && others && medianOf(others, key) > 0 ? ratioOf(list, others, key).toFixed(2) : '';
const rowsOf = (key) =>
  Object.entries(samples)
    .filter(([work]) => work !== 'idle')
    .map(([work, sampled]) => {
      const { one: alone, three: many, 'one, with the load of three': busy } = sampled;
      return [work, us(alone, key), us(busy, key), us(many, key), ratio(many, alone, key), ratio(many, busy, key)];
    });
const head = (what) => [
  what,
  `one, ${perSecond} a second`,
  `one, ${3 * perSecond} a second`,
  `three, ${3 * perSecond} a second`,
  'three / one, same load each',
  'three / one, same load in all',
];
const idleRow = (way) => [way, us(samples.idle[way], 'siteUs'), us(samples.idle[way], 'postgresUs')];
const text = [
  `Node ${process.versions.node}, medians of ${rounds} windows of ${ms} ms in turns.\n`,
  table(head('CPU of the site processes, us'), rowsOf('siteUs')),
  table(head('CPU of Postgres, us'), rowsOf('postgresUs')),
  table(['a second in which nothing happens', 'site, us', 'Postgres, us'], ['one', 'three'].map(idleRow)),
].join('\n');
process.stdout.write(text);
const folder = new URL('./results/', import.meta.url);
await mkdir(folder, { recursive: true });
await writeFile(new URL('fleet.md', folder), text);
