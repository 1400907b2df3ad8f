// `npm run fuzz -- --count 1000000`: passes hostile inputs to every decoder of the build. Each may throw only an IntentError, take
// at most 50 ms (`--longest`), and must not leak memory. If one fails, exits with 1 and prints the `--seed` that repeats it.
// `--planted throws|stalls|leaks` proves that a fault is found.
import { randomInt } from 'node:crypto';
import { setImmediate as aTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { IntentError } from '../../build/errors.js';
import { decoders as allDecoders, examples as makeExamples } from './decoders.mjs';
import { hostileInput, hostileText, seededRandom } from './hostile-inputs.mjs';

const mostGrowthBytes = 16 * 1024 * 1024;

const { values } = parseArgs({
  options: Object.fromEntries(['count', 'seed', 'planted', 'longest'].map((name) => [name, { type: 'string' }])),
});
const count = Number(values.count ?? 1_000_000);
const longestMs = Number(values.longest ?? 50);
const seed = Number(values.seed ?? randomInt(2 ** 32));

// Stacks are the main cost of errors, and are not used here.
Error.stackTraceLimit = 0;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

console.log(`fuzz: ${count} inputs, seed ${seed}`);
const { decoders, close } = await allDecoders();
if (values.planted) decoders.push(planted(values.planted));
const tally = new Map(decoders.map(({ name }) => [name, { accepted: 0, refused: 0 }]));
const begun = performance.now();
const faults = await run();
await close();
report();
process.exitCode = faults.length === 0 ? 0 : 1;

async function run() {
  const examples = await makeExamples();
  const random = seededRandom(seed);
  const faults = [];
  let heapBytes = 0;
  for (let n = 0; n < count && faults.length < 10; n++) {
    const input = { bytes: hostileInput(random, examples.bytes), texts: hostileText(random, examples.texts) };
    for (const decoder of decoders) {
      if (n % decoder.everyNth !== 0) continue;
      const fault = await faultOf(decoder, input[decoder.takes]);
      if (fault) faults.push(`${decoder.name}: ${fault}, input ${n}: ${shown(input[decoder.takes])}`);
    }
    // Weak references are released only between turns of the event loop.
    if (n % 200 === 0) await aTurn();
    // By now all permanent data is allocated.
    if (n === Math.floor(count / 4)) heapBytes = await heapNow();
  }
  const grownBytes = (await heapNow()) - heapBytes;
  console.log(`fuzz: the heap grew by ${(grownBytes / 1024).toFixed(0)} KiB over the last three quarters`);
  if (grownBytes > mostGrowthBytes) faults.push(`the memory grew by ${grownBytes} bytes`);
  return faults;
}

async function faultOf(decoder, input) {
  const { error, tookMs } = await timed(decoder, input);
  tally.get(decoder.name)[error ? 'refused' : 'accepted'] += 1;
  if (error && !(error instanceof IntentError)) return `threw ${error.name}: ${error.message}`;
  if (tookMs <= longestMs) return undefined;
  // A busy machine pauses now and then: only an input that is slow every time is a fault.
  const again = [];
  for (let n = 0; n < 3; n++) again.push((await timed(decoder, input)).tookMs);
  const leastMs = Math.min(tookMs, ...again);
  return leastMs > longestMs ? `took ${leastMs.toFixed(0)} ms` : undefined;
}

async function timed({ run }, input) {
  const from = performance.now();
  try {
    const result = run(input);
    // An unnecessary await costs more than most decoders.
    if (result instanceof Promise) await result;
    return { error: undefined, tookMs: performance.now() - from };
  } catch (error) {
    return { error, tookMs: performance.now() - from };
  }
}

async function heapNow() {
  for (let round = 0; round < 3; round++) {
    await aTurn();
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

function shown(input) {
  return typeof input === 'string'
    ? JSON.stringify(input.slice(0, 300))
    : Buffer.from(input).toString('hex').slice(0, 600);
}

function report() {
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  const sum = { accepted: 0, refused: 0 };
  for (const [name, { accepted, refused }] of tally) {
    sum.accepted += accepted;
    sum.refused += refused;
    if (accepted === 0) console.log(`fuzz: ${name} accepted none of ${refused}`);
  }
  console.log(`fuzz: ${decoders.length} decoders, ${sum.accepted} readings, ${sum.refused} refusals, ${seconds} s`);
  for (const fault of faults) console.error(`fuzz: FAULT: ${fault}`);
  console.log(faults.length === 0 ? 'fuzz: no fault' : `fuzz: repeat with --seed ${seed} --count ${count}`);
}

function planted(kind) {
  const kept = [];
  const plants = {
    throws: (input) => {
      if (input[0] === 0x31) throw new TypeError('planted');
    },
    stalls: (input) => {
      const until = performance.now() + (input[0] === 0x31 ? 60 : 0);
      while (performance.now() < until);
    },
    leaks: () => kept.push(new Array(1_000).fill(0)),
  };
  return { name: 'planted', run: plants[kind], everyNth: 1, takes: 'bytes' };
}
