// The server of bench/settle.mjs: an Express site with a ledger that notes when `onPaid` is called.
import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { generateKey, intentRouter } from '../dist/index.js';

const paidAtMs = new Map();
let router;

const answers = {
  start: async ({ sequencerUrl, databaseUrl, serviceKey, webhook, settlement = {} }) => {
    const server = createServer().listen({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${server.address().port}`;
    router = intentRouter({
      logger: { warn: () => undefined, error: (...line) => console.error(...line) },
      ...{ sequencerUrl, databaseUrl, serviceKey, origin, login: false, webhook },
      destination: generateKey().publicKey,
      payment: () => ({ amount: '4.50', currency: 'usd' }),
      ...settlement,
      onPaid: ({ id }) => void paidAtMs.set(id, Date.now()),
      // All browsers come from one address.
      connections: { perBrowser: 1_000, perAddress: 1_000, perProcess: 10_000 },
      rateLimits: { intent: 1_000_000, status: 1_000_000_000 },
    });
    const app = express().use(router);
    server.on('request', app);
    await router.ready();
    return origin;
  },
  paid: () => Object.fromEntries(paidAtMs),
  cpuMs: () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000,
};
process.on('message', async ({ n, ask, options }) => {
  try {
    process.send({ n, answer: await answers[ask](options) });
  } catch (error) {
    process.send({ n, error: String(error.problems ? JSON.stringify(error.problems) : error) });
  }
});
process.on('disconnect', async () => {
  await router?.close();
  process.exit();
});
