// The traffic `pipelined-events` of bench/soak.mjs: streams of events, requests for more streams pipelined behind each, and
// requests that a timeout middleware has answered; then the connections end. Nothing of them may stay in memory.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import bs58 from 'bs58';
import { startChild } from './child.mjs';
import { linePlot } from './line-plot.mjs';
import { site } from './measure.mjs';

/** Bounds the load on the machine: the leak this looks for had 9 to 24 KiB for each request. */
const roundMs = 1_000;
const connectionsPerRound = 4;
const requestsPerConnection = 30;
/** So many that each request waits, and none is refused. */
const connectionLimits = { perAddress: 1_000 };
/** Few: the status of each intent is kept on purpose. */
const ids = Array.from({ length: 40 }, () => bs58.encode(randomBytes(32)));
const sampleMs = 30_000;
/** Code and caches are filled by then. */
const warmUpMs = 120_000;
/** Bytes for each request. The leak had a thousand times as much. */
const mayGrow = 20;

const requestOf = (target) => `GET ${target} HTTP/1.1\r\nHost: soak\r\nAccept: text/event-stream\r\n\r\n`;

/** One connection: a stream, the requests pipelined behind it, and its end. */
async function visit(port, target) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(requestOf(target).repeat(requestsPerConnection));
  await setTimeout(roundMs / 2);
  socket.destroy();
}

/** @returns bytes for each request: the slope of the line that lies nearest to the samples */
function slopeOf(samples, key) {
  const mean = (of) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanX, meanY] = [mean(({ requests }) => requests), mean((sample) => sample[key])];
  const spread = mean(({ requests }) => (requests - meanX) ** 2);
  return mean((sample) => (sample.requests - meanX) * (sample[key] - meanY)) / spread;
}

async function run(minutes) {
  const [stub, server] = [startChild('./stub.mjs'), startChild('./server.mjs', ['--expose-gc'])];
  try {
    const { url } = await stub.ask('addresses');
    const port = await server.ask('start', { ...site, url, connectionLimits, module: 'timeouts' });
    const samples = [];
    const beganAtMs = performance.now();
    let requests = 0;
    for (let sampledAtMs = beganAtMs; performance.now() - beganAtMs < minutes * 60_000; ) {
      const targets = Array.from({ length: connectionsPerRound }, (_, n) => {
        const target = `/intent/${ids[Math.floor(Math.random() * ids.length)]}/events`;
        return n === 0 ? `${target}?late` : target;
      });
      await Promise.all([...targets.map((target) => visit(port, target)), setTimeout(roundMs)]);
      requests += connectionsPerRound * requestsPerConnection;
      if (performance.now() - sampledAtMs < sampleMs) continue;
      sampledAtMs = performance.now();
      // A watch outlives its last listener by five seconds.
      await setTimeout(6_000);
      const sample = { minutes: (sampledAtMs - beganAtMs) / 60_000, requests, ...(await server.ask('held')) };
      samples.push(sample);
      console.log(
        `${sample.minutes.toFixed(1)} min: ${requests} requests, ${(sample.held / 1e6).toFixed(2)} MB held, ` +
          `${(sample.rss / 1e6).toFixed(1)} MB RSS`,
      );
    }
    return samples;
  } finally {
    for (const child of [stub, server]) child.stop();
  }
}

/** @returns whether memory is flat; undefined after a run that is too short */
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
    linePlot({
      title: 'Memory of the server, after a collection',
      xs: samples.map(({ requests }) => requests),
      xTitle: 'requests for streams, pipelined or answered by a timeout middleware',
      series: { 'RSS, MB': inMb('rss'), 'JavaScript, MB': inMb('held') },
    }),
  );
  if (!growth) {
    console.log('Whether memory is flat shows only after some minutes.');
    return undefined;
  }
  const isFlat = growth.held < mayGrow;
  console.log(`Each request adds ${growth.held.toFixed(2)} bytes of JavaScript, ${growth.rss.toFixed(2)} of RSS.`);
  console.log(isFlat ? 'Memory is flat.' : `FAILED: memory grows by ${mayGrow} bytes or more for each request.`);
  return isFlat;
}
