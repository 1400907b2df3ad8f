// Measures the workloads, each variant in its own process and in turns, and the event streams.
//   npm run bench [-- --only 'create payment' --rounds 15 --ms 300 --warm-ms 10000 --connections 32 --clients 5000]
// Requires a build. Writes results.json, table.md and a chart of each workload to bench/results/, or to --out. Only ratios are
// comparable between machines. Exits with 1 if a client misses an event or the server does not release its resources.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureWorkload } from './measure.mjs';
import { measuredTargets, streamsTable, tableOf, targetsTable, writeResults } from './report.mjs';
import { measureStreams, streamFaults, streamVariants } from './streams.mjs';
import { workloads } from './workloads.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [...Object.keys(workloads), 'streams'] },
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
const [results, targets] = [{}, []];
for (const name of values.only.filter((name) => name in workloads)) {
  results[name] = await measureWorkload(workloads[name], { ...settings, warmMs });
  targets.push(...measuredTargets(name, workloads[name], results[name]));
  console.log(tableOf(name, results[name]));
}
let streams;
if (values.only.includes('streams')) {
  streams = {};
  for (const [name, variant] of Object.entries(streamVariants)) {
    streams[name] = await measureStreams(variant, clients);
    for (const fault of streamFaults(variant, clients, streams[name])) {
      console.log(`FAILED: ${name}: ${fault}`);
      process.exitCode = 1;
    }
  }
  console.log(streamsTable(clients, streams));
}
console.log(targetsTable(targets));
await writeResults(values.out, { settings, results, targets, clients, streams });
