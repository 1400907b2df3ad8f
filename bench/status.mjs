// How often the service is asked while many tabs poll one intent, each once a second.
//   node bench/status.mjs [--tabs 1000] [--seconds 10]
// Needs a build. Ends with 1 when the service is asked more than five times a second, or a tab gets another answer than 200.
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startChild } from './child.mjs';

const { values } = parseArgs({
  options: { tabs: { type: 'string', default: '1000' }, seconds: { type: 'string', default: '10' } },
});
const [tabs, seconds] = [Number(values.tabs), Number(values.seconds)];
const maxCallsPerSecond = 5;
const path = '/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const expected = '{"exists":true,"code_scanned":true,"intent_submitted":false}';

const server = startChild('./status-server.mjs');
const pool = new Pool(`http://127.0.0.1:${await server.ask('port')}`, { connections: 64 });
const latenciesMs = [];
let wrong = 0;

async function poll() {
  const startedAtMs = performance.now();
  const { statusCode, body } = await pool.request({ path, method: 'GET' });
  if ((await body.text()) !== expected || statusCode !== 200) wrong += 1;
  latenciesMs.push(performance.now() - startedAtMs);
}

/** A tab that asks once a second, from a moment of its own on. */
async function tab(index, endMs) {
  await setTimeout((index * 1000) / tabs);
  for (let next = performance.now(); next < endMs; next += 1000) {
    await setTimeout(Math.max(0, next - performance.now()));
    await poll();
  }
}

const before = await server.ask('state');
const endMs = performance.now() + seconds * 1000;
await Promise.all(Array.from({ length: tabs }, (_, index) => tab(index, endMs)));
const after = await server.ask('state');
await pool.close();
server.stop();

const callsPerSecond = (after.calls - before.calls) / seconds;
const sorted = latenciesMs.sort((a, b) => a - b);
const percentile = (share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(1);
const cpuUs = ((after.cpuMs - before.cpuMs) * 1000) / sorted.length;
process.stdout.write(
  `${tabs} tabs, ${seconds} s: ${sorted.length} answers, ${wrong} wrong, ${callsPerSecond} upstream calls a second\n` +
    `  ${percentile(0.5)} ms median, ${percentile(0.99)} ms p99, ${cpuUs.toFixed(0)} us CPU each\n`,
);
const isFault = callsPerSecond > maxCallsPerSecond || wrong > 0 || sorted.length < tabs * (seconds - 1);
if (isFault) process.stdout.write('FAILED\n');
process.exitCode = isFault ? 1 : 0;
