// All that is claimed of speed, measured: every variant in a process of its own, in turns, against one sequencer.
//   npm run bench [-- --only 'create payment' --rounds 9 --ms 500 --connections 32]
// Writes bench/results/: results.json, table.md and a plot for each work. Only the ratios travel.
import { parseArgs } from 'node:util';
import { measureWork } from './measure.mjs';
import { tableOf, writeResults } from './report.mjs';
import { works } from './works.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(works) },
    rounds: { type: 'string', default: '9' },
    ms: { type: 'string', default: '500' },
    connections: { type: 'string', default: '32' },
  },
});
const settings = { rounds: Number(values.rounds), ms: Number(values.ms), connections: Number(values.connections) };

const results = {};
for (const name of values.only) {
  results[name] = await measureWork(works[name], settings);
  console.log(tableOf(name, results[name]));
}
await writeResults(results, settings);
