// The server of streams.mjs and reconnect.mjs: an Express app with the events route. The sequencer and the watches are stubs in
// this process, so only the streams are measured.
import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { parseConfig } from '../build/config/config.js';
import { EventHub } from '../build/http/events/event-hub.js';
import { PrivateIntentCache } from '../build/http/events/private-intent-cache.js';
import { ConnectionLimiter } from '../build/http/limits/connection-limiter.js';
import { hostCookie } from '../build/http/request/browser-cookie.js';
import { createRouter } from '../build/http/router.js';
import { RunningRequests } from '../build/http/running-requests.js';
import { MemoryLoginStore } from '../build/http/session/login-store.js';
import { StatusCache } from '../build/sequencer/watch/status-cache.js';
import { handleCalls } from './process.mjs';

const transport = { call: async () => new Uint8Array(), close: async () => undefined };
const limit = 1_000_000;
const streams = { perBrowser: limit, perAddress: limit, perProcess: limit };
// All clients come from one address.
const rateLimits = { status: 1_000_000_000 };
const config = parseConfig({ sequencer: { transport }, limits: { streams, requests: rateLimits }, login: false }, {});
const logger = { warn: () => undefined, error: () => undefined };

/** Resolves the next event of each watch. */
const watches = new Map();
async function* watch({ id }, { signal }) {
  try {
    while (!signal.aborted) {
      const event = await new Promise((resolve) => {
        watches.set(id, resolve);
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      if (event) yield event;
      if (event?.kind === 'intent_submitted') break;
    }
  } finally {
    // The feed may return early, without another event.
    watches.delete(id);
  }
}

const status = { exists: true, codeScanned: false, intentSubmitted: false };
const client = { paymentIntents: { getStatus: async () => status } };
const monotonicNow = () => performance.now();
const statusCache = new StatusCache({ fetchStatus: client.paymentIntents.getStatus, now: monotonicNow });
const privateIntents = new PrivateIntentCache(monotonicNow);
const connectionLimiter = new ConnectionLimiter(streams, () => undefined);
const events = new EventHub({ watch, statusCache, privateIntents, logger }, streams);
const app = express();
app.use(
  createRouter({
    config,
    client,
    hooks: {},
    resolveTerms: undefined,
    logger,
    browserCookie: hostCookie('intent', false),
    logins: new MemoryLoginStore(0, monotonicNow),
    sessions: undefined,
    webhook: undefined,
    now: Date.now,
    monotonicNow,
    statusCache,
    privateIntents,
    connectionLimiter,
    events,
    running: new RunningRequests(),
  }),
);

let server;

/** Hand-written `node:http`: the lower limit of the cost of a stream. */
const limitStreams = new Set();
function limitHandler(_req, res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.write(Buffer.from('retry: 4000\n\nevent: status\ndata: {"exists":true}\n\n'));
  limitStreams.add(res);
  res.on('close', () => limitStreams.delete(res));
}

const cpuMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;

function sendAll(kind, id) {
  const frame = Buffer.from(`event: ${kind}\nid: ${id}\ndata: {}\n\n`);
  for (const res of limitStreams) {
    if (kind === 'intent_submitted') res.end(frame);
    else res.write(frame);
  }
  for (const resolve of [...watches.values()]) resolve({ kind, id, timestampMs: Date.now() });
}

handleCalls({
  start: async ({ isLimit, port = 0 }) => {
    server = createServer(isLimit ? limitHandler : app);
    server.listen({ port, host: '127.0.0.1', backlog: 8192 });
    await once(server, 'listening');
    return server.address().port;
  },
  send: () => sendAll('code_scanned', 'bench'),
  // The final event closes the streams.
  finish: () => sendAll('intent_submitted', 'intent_submitted'),
  cpuMs,
  state: async () => {
    for (let n = 0; n < 3; n += 1) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    const sockets = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    return {
      rss,
      held: heapUsed + external,
      sockets,
      connections: connectionLimiter.open + connectionLimiter.trackedKeys + limitStreams.size,
      feeds: events.size,
      watches: watches.size,
    };
  },
});
