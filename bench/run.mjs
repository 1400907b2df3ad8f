// All that is claimed of speed, measured: every variant in a process of its own, in turns, against one sequencer.
//   npm run bench [-- --only 'create payment' --rounds 15 --ms 300 --connections 32 --clients 5000]
//   node bench/run.mjs --short      in half a minute; ends with 1 when a ratio is far from what it was, and prints FAILED
// Needs a build. Writes bench/results/: results.json, table.md and a plot of each work. Only the ratios travel.
import { parseArgs } from 'node:util';
import { measureWork } from './measure.mjs';
import { multiplesTableOf, numbersOf, numbersTable, streamsTable, tableOf, writeResults } from './report.mjs';
import { crowds, measureStreams } from './sse.mjs';
import { works } from './works.mjs';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [...Object.keys(works), 'streams'] },
    rounds: { type: 'string', default: '15' },
    ms: { type: 'string', default: '300' },
    connections: { type: 'string', default: '32' },
    clients: { type: 'string', default: '5000' },
  },
});
const [rounds, ms, connections, clients] = ['rounds', 'ms', 'connections', 'clients'].map((name) =>
  Number(values[name]),
);

/** Enough to see that something is broken: the variants that the numbers speak of, and little time for each. */
function shortened({ numbers, variants, ...work }) {
  const judged = numbers.filter(({ broken }) => broken);
  const needed = new Set(judged.flatMap(({ variant, of }) => [variant, of]));
  const kept = Object.entries(variants).filter(([name, { ledger }]) => needed.has(name) && !ledger);
  return { ...work, numbers: judged, variants: Object.fromEntries(kept) };
}

if (values.short) {
  const settings = { rounds: 3, ms: 100, connections: 32, warmUp: { requests: 1_500, ms: 2_000 } };
  for (const name of ['create payment', 'status, cached', 'another route']) {
    const work = shortened(works[name]);
    const measure = async () => numbersOf(name, work, await measureWork(work, settings));
    const first = await measure();
    // What another program has broken is whole the second time; what we have broken is not.
    const numbers = first.some(({ isBroken }) => isBroken) ? await measure() : first;
    for (const { name: number, value, isBroken } of numbers) {
      console.log(`${number}: ${value.toFixed(2)}${isBroken ? ' FAILED' : ''}`);
      if (isBroken) process.exitCode = 1;
    }
  }
} else {
  const settings = { rounds, ms, connections };
  const [results, numbers] = [{}, []];
  for (const name of values.only.filter((name) => name in works)) {
    results[name] = await measureWork(works[name], settings);
    numbers.push(...numbersOf(name, works[name], results[name]));
    console.log(`${tableOf(name, results[name])}\n${multiplesTableOf(name, results[name])}`);
  }
  let streams;
  if (values.only.includes('streams')) {
    streams = {};
    for (const name of Object.keys(crowds)) streams[name] = await measureStreams(crowds[name], clients);
    console.log(streamsTable(clients, streams));
  }
  console.log(numbersTable(numbers));
  await writeResults({ settings, results, numbers, clients, streams });
}
