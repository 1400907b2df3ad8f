// Measures the workloads, each variant in its own process and in turns, then event streams, the import and a settlement.
//   npm run bench [-- --only 'create payment' --rounds 6 --ms 2000 --warm-ms 20000 --connections 32 --clients 5000 --payments 3000 --busy]
// Requires a build. Writes results.json, table.md and charts to bench/results/, or to --out. Refuses the ratios of rows during which
// other programs used more than a tenth of the cores; with --busy it prints and marks them. Exits with 1 if ratios are refused, a
// client misses an event or the server does not release its resources.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { importGoals, measureImports } from './import-time.mjs';
import { describeMachine, raisePriority } from './machine.mjs';
import { measureWorkload } from './measure.mjs';
import { disturbanceOf, goalRows, goalsTable, importsTable, streamsTable, tableOf, writeResults } from './report.mjs';
import { measureSettlement, settlementTables } from './settlement.mjs';
import { measureStreams, streamFaults, streamVariants } from './streams.mjs';
import { workloads } from './workloads.mjs';

const parts = [...Object.keys(workloads), 'streams', 'import', 'settlement'];
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: parts },
    rounds: { type: 'string', default: '6' },
    ms: { type: 'string', default: '2000' },
    'warm-ms': { type: 'string', default: '20000' },
    connections: { type: 'string', default: '32' },
    clients: { type: 'string', default: '5000' },
    payments: { type: 'string', default: '3000' },
    busy: { type: 'boolean', default: false },
    out: { type: 'string', default: path.join(import.meta.dirname, 'results') },
  },
});
const unknown = values.only.filter((name) => !parts.includes(name));
if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join('; ')}. Use --only with one of: ${parts.join('; ')}.`);
const [rounds, ms, warmMs, connections, clients] = ['rounds', 'ms', 'warm-ms', 'connections', 'clients'].map((name) =>
  Number(values[name]),
);
const { busy } = values;

const settings = { rounds, ms, warmMs, connections };
const [printed, goals, results] = [[], [], {}];
const print = (text) => {
  printed.push(text);
  console.log(text);
};

print(`${describeMachine()}.\n`);
print(`${connections} connections, medians of ${rounds} windows of ${ms} ms in turns, priority ${raisePriority()}.\n`);
for (const name of Object.keys(workloads).filter((name) => values.only.includes(name))) {
  results[name] = await measureWorkload(workloads[name], settings);
  goals.push(...goalRows(workloads[name], results[name], { busy }));
  print(tableOf(name, results[name], { busy }));
}
const streams = {};
let settlement;
if (values.only.includes('streams')) {
  for (const [name, variant] of Object.entries(streamVariants)) {
    streams[name] = await measureStreams(variant, clients);
    for (const fault of streamFaults(variant, clients, streams[name])) {
      console.log(`FAILED: ${name}: ${fault}`);
      process.exitCode = 1;
    }
  }
  print(streamsTable(clients, streams));
}
if (values.only.includes('import')) {
  results.import = await measureImports(rounds * 5);
  goals.push(...goalRows(importGoals, results.import, { busy }));
  print(importsTable(results.import));
}
if (values.only.includes('settlement')) {
  settlement = await measureSettlement({ rounds, payments: Number(values.payments) });
  print(settlementTables(settlement));
}
if (goals.length > 0) print(goalsTable(goals));
const disturbance = disturbanceOf(results, { busy });
if (disturbance) print(disturbance);
if (disturbance && !busy) process.exitCode = 1;
const machine = describeMachine();
await writeResults(values.out, {
  text: printed.join('\n'),
  busy,
  machine,
  settings,
  results,
  clients,
  streams,
  settlement,
  goals,
});
