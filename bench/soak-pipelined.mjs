// The traffic `pipelined-events` of soak.mjs: event streams, more requests for streams pipelined behind each, and requests that
// a timeout middleware answers. Then the connections close, and all memory must be released.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import bs58 from 'bs58';
import { site } from './measure.mjs';
import { startChild } from './process.mjs';
import { lineChart } from './report.mjs';

/** Limits the load on the machine. The leak that this benchmark detects had 9 to 24 KiB for each request. */
const roundMs = 1_000;
const connectionsPerRound = 4;
const requestsPerConnection = 30;
/** High enough that no request is refused. */
const streams = { perAddress: 1_000 };
/** Few, because the server caches the status of each intent. */
const ids = Array.from({ length: 40 }, () => bs58.encode(randomBytes(32)));
const sampleMs = 30_000;
/** By then the code is compiled and the caches are full. */
const warmUpMs = 120_000;
/** The allowed growth in bytes for each request. */
const maxGrowth = 20;

const requestOf = (target) => `GET ${target} HTTP/1.1\r\nHost: soak\r\nAccept: text/event-stream\r\n\r\n`;

/** Opens a connection, sends pipelined requests for streams, and closes it. */
async function visit(port, target) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(requestOf(target).repeat(requestsPerConnection));
  await setTimeout(roundMs / 2);
  socket.destroy();
}

/** The growth in bytes for each request: the slope of a linear regression. */
function slopeOf(samples, key) {
  const mean = (of) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanX, meanY] = [mean(({ requests }) => requests), mean((sample) => sample[key])];
  const spread = mean(({ requests }) => (requests - meanX) ** 2);
  return mean((sample) => (sample.requests - meanX) * (sample[key] - meanY)) / spread;
}

async function run(minutes) {
  const [stub, server] = [startChild('./stub.mjs'), startChild('./server.mjs', ['--expose-gc'])];
  try {
    const { url } = await stub.call('addresses');
    const port = await server.call('start', {
      ...site,
      url,
      streams,
      module: 'ours',
      answersLate: true,
    });
    const samples = [];
    const startedAtMs = performance.now();
    let requests = 0;
    for (let sampledAtMs = startedAtMs; performance.now() - startedAtMs < minutes * 60_000; ) {
      const targets = Array.from({ length: connectionsPerRound }, (_, n) => {
        const target = `/intent/${ids[Math.floor(Math.random() * ids.length)]}/events`;
        return n === 0 ? `${target}?late` : target;
      });
      await Promise.all([...targets.map((target) => visit(port, target)), setTimeout(roundMs)]);
      requests += connectionsPerRound * requestsPerConnection;
      if (performance.now() - sampledAtMs < sampleMs) continue;
      sampledAtMs = performance.now();
      // A watch continues for five seconds after its last listener.
      await setTimeout(6_000);
      const sample = { minutes: (sampledAtMs - startedAtMs) / 60_000, requests, ...(await server.call('held')) };
      samples.push(sample);
      console.log(
        `${sample.minutes.toFixed(1)} min: ${requests} requests, heap ${(sample.held / 1e6).toFixed(2)} MB, ` +
          `RSS ${(sample.rss / 1e6).toFixed(1)} MB`,
      );
    }
    return samples;
  } finally {
    for (const child of [stub, server]) child.stop();
  }
}

/** @returns whether memory is flat; undefined if the run is too short */
export async function soakPipelined({ minutes, out }) {
  const samples = await run(minutes);
  const settled = samples.filter((sample) => sample.minutes * 60_000 > warmUpMs);
  const growth = settled.length < 4 ? undefined : { held: slopeOf(settled, 'held'), rss: slopeOf(settled, 'rss') };
  await mkdir(out, { recursive: true });
  const { node } = process.versions;
  await writeFile(
    path.join(out, 'soak-pipelined.json'),
    `${JSON.stringify({ node, growth, samples }, undefined, 1)}\n`,
  );
  const inMb = (key) => samples.map((sample) => sample[key] / 1e6);
  await writeFile(
    path.join(out, 'soak-pipelined.svg'),
    lineChart({
      title: 'Memory of the server after a garbage collection',
      xs: samples.map(({ requests }) => requests),
      xTitle: 'requests for streams, pipelined or answered by a timeout middleware',
      series: { 'RSS, MB': inMb('rss'), 'heap, MB': inMb('held') },
    }),
  );
  if (!growth) {
    console.log('To check memory, run for some minutes longer.');
    return undefined;
  }
  const isFlat = growth.held < maxGrowth;
  console.log(`Growth for each request: heap ${growth.held.toFixed(2)} bytes, RSS ${growth.rss.toFixed(2)} bytes.`);
  console.log(isFlat ? 'Memory is flat.' : `FAILED: the heap grows by ${maxGrowth} bytes or more for each request.`);
  return isFlat;
}
