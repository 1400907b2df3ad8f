// The traffic `pipelined-events` of soak.mjs: event streams, requests for streams pipelined behind them, requests that a timeout
// middleware answers, and one connection on which streams follow each other for the whole run. The sequencer writes each answer
// and each frame of its message streams byte by byte. Before each sample all streams end, and their memory must be released.
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import bs58 from 'bs58';
import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../build/intents/payload.js';
import { Connection, hasStatus, requestBytes } from './connection.mjs';
import { site } from './measure.mjs';
import { startChild } from './process.mjs';
import { lineChart } from './report.mjs';
import { median } from './statistics.mjs';

/** Limits the load on the machine. The leak that this benchmark detected had 9 to 24 KiB for each request. */
const roundMs = 1_000;
const connectionsPerRound = 4;
const requestsPerConnection = 30;
/** On the lasting connection, in each round: one after the other, and then as many at once. */
const requestsInTurn = 5;
/** High enough that no request is refused. */
const streams = { perAddress: 1_000 };
/** Few, because the server caches each intent. */
const intentCount = 40;
/** Intents that the sequencer does not know. Their streams end at once. */
const unknownIds = Array.from({ length: intentCount }, (_, n) => bs58.encode(Buffer.alloc(32, n + 1)));
const sampleMs = 30_000;
const warmUpMs = 120_000;
/** The heap is flat if the median of its last third is at most this share above that of the second third. */
const maxGrowth = 0.03;

const requestOf = (target) => `GET ${target} HTTP/1.1\r\nHost: soak\r\nAccept: text/event-stream\r\n\r\n`;
const eventsOf = (id) => `/intent/${id}/events`;
const oneOf = (values) => values[Math.floor(Math.random() * values.length)];
const print = (line) => process.stdout.write(`${line}\n`);

/** Creates the intents. The server then knows their client secrets, which it needs to open their message streams. */
async function createIntents(port) {
  const connection = new Connection(port);
  const ids = [];
  for (let n = 0; n < intentCount; n += 1) {
    const body = '{"mode":"payment","order":42}';
    const headers = { 'Idempotency-Key': randomUUID() };
    const created = await connection.send(requestBytes({ method: 'POST', path: '/intent', body, headers }));
    if (!hasStatus(created, 201)) throw new Error(`Expected 201, got: ${created}`);
    const [, secret] = /"client_secret":"(\w+)"/.exec(created);
    ids.push(intentIdOf(rendezvousKeyPair(parseClientSecret(secret))));
  }
  connection.close();
  return ids;
}

/** Opens a connection, sends pipelined requests for streams, and closes it. */
async function visit(port, target) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(requestOf(target).repeat(requestsPerConnection));
  await setTimeout(roundMs / 2);
  socket.destroy();
}

/** A keep-alive connection that reads streams to their ends. */
class LastingConnection {
  #socket;
  #received = '';
  #onProgress = () => undefined;

  constructor(port) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => {
      this.#received += text;
      this.#onProgress();
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#onProgress());
  }

  /** Sends the requests at once. Resolves when as many streams have ended. */
  async read(targets) {
    this.#received = '';
    this.#socket.write(targets.map(requestOf).join(''));
    await new Promise((resolve, reject) => {
      this.#onProgress = () => {
        if (this.#socket.destroyed) reject(new Error(`The server closed the lasting connection: ${this.#received}`));
        if (this.#received.split('\r\n0\r\n\r\n').length > targets.length) resolve();
      };
    });
    const opened = this.#received.split('HTTP/1.1 200 OK').length - 1;
    if (opened !== targets.length) throw new Error(`A stream was not opened: ${this.#received}`);
  }

  close() {
    this.#onProgress = () => undefined;
    this.#socket.destroy();
  }
}

async function readInTurn(connection) {
  const targets = Array.from({ length: requestsInTurn }, () => eventsOf(oneOf(unknownIds)));
  for (const target of targets) await connection.read([target]);
  await connection.read(targets);
}

async function run(minutes) {
  const [stub, server] = [startChild('./stub.mjs'), startChild('./server.mjs', ['--expose-gc'])];
  let lasting;
  try {
    const { url } = await stub.call('addresses');
    await stub.call('configure', { byteByByte: true });
    const port = await server.call('start', { ...site, url, streams, module: 'ours', answersLate: true });
    const ids = await createIntents(port);
    lasting = new LastingConnection(port);
    const samples = [];
    const startedAtMs = performance.now();
    let requests = 0;
    for (let sampledAtMs = startedAtMs; performance.now() - startedAtMs < minutes * 60_000; ) {
      const targets = Array.from({ length: connectionsPerRound }, (_, n) => {
        const target = eventsOf(oneOf(ids));
        return n === 0 ? `${target}?late` : target;
      });
      const visits = targets.map((target) => visit(port, target));
      await Promise.all([...visits, readInTurn(lasting), setTimeout(roundMs)]);
      requests += connectionsPerRound * requestsPerConnection + 2 * requestsInTurn;
      if (performance.now() - sampledAtMs < sampleMs) continue;
      sampledAtMs = performance.now();
      // A watch continues for five seconds after its last listener.
      await setTimeout(6_000);
      const { calls, messageStreams } = await stub.call('load');
      const { cpuUs } = await server.call('used');
      const held = await server.call('held');
      samples.push({ minutes: (sampledAtMs - startedAtMs) / 60_000, requests, calls, messageStreams, cpuUs, ...held });
      print(textOf(samples.at(-1)));
    }
    return samples;
  } finally {
    lasting?.close();
    for (const child of [stub, server]) child.stop();
  }
}

const mb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;

function textOf({ minutes, requests, calls, messageStreams, cpuUs, held, rss }) {
  return (
    `${minutes.toFixed(1)} min: ${requests} requests, ${calls} calls and ${messageStreams} message streams of the sequencer, ` +
    `${(cpuUs / 1e6).toFixed(1)} s of CPU, heap ${mb(held)}, RSS ${mb(rss)}`
  );
}

/** The medians of the second and the last third of the run. The first third is the warm-up. */
function mediansOf(samples, key) {
  const third = Math.floor(samples.length / 3);
  const values = samples.map((sample) => sample[key]);
  return { second: median(values.slice(third, -third)), last: median(values.slice(-third)) };
}

/** @returns whether memory is flat; undefined if the run is too short */
export async function soakPipelined({ minutes, out }) {
  const samples = await run(minutes);
  const isLongEnough = minutes * 60_000 >= 3 * warmUpMs;
  const medians = isLongEnough ? { held: mediansOf(samples, 'held'), rss: mediansOf(samples, 'rss') } : undefined;
  await mkdir(out, { recursive: true });
  const { node } = process.versions;
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  const about = JSON.stringify({ node, medians }).slice(1, -1);
  await writeFile(path.join(out, 'soak-pipelined.json'), `{${about},"samples":[\n${lines}\n]}\n`);
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
  if (!medians) {
    print(`To check memory, run for ${(3 * warmUpMs) / 60_000} minutes or longer.`);
    return undefined;
  }
  const { held, rss } = medians;
  const growth = held.last / held.second - 1;
  const isFlat = growth <= maxGrowth;
  print(
    `Median of the second third, and of the last: heap ${mb(held.second)} and ${mb(held.last)}; RSS ${mb(rss.second)} and ${mb(rss.last)}.`,
  );
  const percent = (share) => `${(share * 100).toFixed(1)}%`;
  print(
    isFlat
      ? `Memory is flat: the heap grew by ${percent(growth)}.`
      : `FAILED: the heap grew by ${percent(growth)}, more than ${percent(maxGrowth)}.`,
  );
  return isFlat;
}
