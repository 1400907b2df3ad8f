// All that is claimed of speed, measured: every variant in a process of its own, in turns, against one sequencer; and the streams of events.
//   npm run bench [-- --only 'create payment' --rounds 15 --ms 300 --warm-ms 10000 --connections 32 --clients 5000]
// Needs a build. Writes results.json, table.md and a plot of each work to bench/results/, or to --out. Only the ratios travel.
// Ends with 1 when a client misses an event, or something is left of those who have gone.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureWork } from './measure.mjs';
import { multiplesTableOf, numbersOf, numbersTable, streamsTable, tableOf, writeResults } from './report.mjs';
import { crowds, measureStreams, streamFaults } from './sse.mjs';
import { works } from './works.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [...Object.keys(works), 'streams'] },
    rounds: { type: 'string', default: '15' },
    ms: { type: 'string', default: '300' },
    'warm-ms': { type: 'string', default: '10000' },
    connections: { type: 'string', default: '32' },
    clients: { type: 'string', default: '5000' },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results') },
  },
});
const [rounds, ms, warmMs, connections, clients] = ['rounds', 'ms', 'warm-ms', 'connections', 'clients'].map((name) =>
  Number(values[name]),
);

const settings = { rounds, ms, connections };
const [results, numbers] = [{}, []];
for (const name of values.only.filter((name) => name in works)) {
  results[name] = await measureWork(works[name], { ...settings, warmMs });
  numbers.push(...numbersOf(name, works[name], results[name]));
  console.log(`${tableOf(name, results[name])}\n${multiplesTableOf(name, results[name])}`);
}
let streams;
if (values.only.includes('streams')) {
  streams = {};
  for (const [name, crowd] of Object.entries(crowds)) {
    streams[name] = await measureStreams(crowd, clients);
    for (const fault of streamFaults(crowd, clients, streams[name])) {
      console.log(`FAILED: ${name}: ${fault}`);
      process.exitCode = 1;
    }
  }
  console.log(streamsTable(clients, streams));
}
console.log(numbersTable(numbers));
await writeResults(values.out, { settings, results, numbers, clients, streams });
