// A site with a small heap for pipelined-memory.full.test.ts. It counts the responses in memory. Needs a build.
import { createServer } from 'node:http';
import express from 'express';
import { intentRouter } from '../../../build/index.js';

const transport = { call: async () => Uint8Array.of(0x08, 0x01), close: async () => undefined };
const unlimited = 1_000_000;
const router = intentRouter({
  sequencer: { transport },
  login: false,
  limits: { requests: false, streams: { perBrowser: unlimited, perAddress: unlimited, perProcess: unlimited } },
  logger: false,
});
const responses = new Set();
let seen = 0;
const app = express();
app.use((req, res, next) => {
  seen += 1;
  responses.add(new WeakRef(res));
  if (req.query.late === undefined) return next();
  // Like a timeout middleware that expires before the rest of the app.
  res.once('close', () => next());
  res.status(503).end();
});
app.use(router);
const server = createServer(app).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

process.on('message', () => {
  globalThis.gc();
  for (const response of responses) if (!response.deref()) responses.delete(response);
  process.send({ seen, held: responses.size });
});
process.on('disconnect', () => process.exit());
