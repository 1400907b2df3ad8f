// What it costs that somebody may look on, and that somebody does: CPU per request, each variant in a process of its own.
//   npm run bench:telemetry [-- --rounds 15 --ms 300]
import { parseArgs } from 'node:util';
import { measureWork, medianOf, ratioOf } from './measure.mjs';
import { tableOf } from './report.mjs';
import { works } from './works.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, ms: { type: 'string', default: '300' } },
});
const settings = { rounds: Number(values.rounds), ms: Number(values.ms), connections: 32 };

const variants = {
  off: { module: 'ours', telemetry: false },
  'no SDK': { module: 'ours' },
  listener: { module: 'observed', listens: true },
  'SDK, sampled out': { module: 'observed', sampled: false },
  'SDK, every span': { module: 'observed', sampled: true },
};

for (const name of ['create payment', 'status, cached']) {
  const work = await measureWork({ ...works[name], variants }, settings);
  console.log(tableOf(name, work));
  for (const [variant, samples] of Object.entries(work)) {
    const us = (medianOf(samples) - medianOf(work.off)).toFixed(1);
    console.log(`${name}: ${variant}: ${ratioOf(samples, work.off).toFixed(3)} x off, ${us} us`);
  }
}
