// The server of bench/status.mjs: an Express site with the router, and a service that counts how often it is asked.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import express from 'express';
import { intentRouter } from '../dist/index.js';

/** What a service in the same town takes to answer. */
const latencyMs = 5;
let calls = 0;
const transport = {
  call: async () => {
    calls += 1;
    await setTimeout(latencyMs);
    // exists and code_scanned, not submitted.
    return Uint8Array.of(0x08, 0x01, 0x10, 0x01);
  },
  close: async () => undefined,
};

const app = express();
// All tabs come from one address.
app.use(intentRouter({ transport, login: false, rateLimits: { status: 1_000_000_000 } }));
const server = createServer(app).listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
await once(server, 'listening');

const answers = {
  port: () => server.address().port,
  state: () => ({ calls, cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000 }),
};
process.on('message', async ({ n, ask }) => process.send({ n, answer: await answers[ask]() }));
process.on('disconnect', () => process.exit());
