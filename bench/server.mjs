// The process whose cost is measured: one of bench/servers/, as its parent says. Driven by messages.
import { once } from 'node:events';
import { answerParent } from './answer-parent.mjs';

let server;

const answers = {
  start: async ({ module, ...options }) => {
    const { default: start } = await import(`./servers/${module}.mjs`);
    server = await start(options);
    server.keepAliveTimeout = 60_000;
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
    await once(server, 'listening');
    return server.address().port;
  },
  used: () => {
    const { user, system } = process.cpuUsage();
    return { cpuUs: user + system, rss: process.memoryUsage.rss() };
  },
  /** What is held, in bytes, and not only not yet collected. Needs `--expose-gc`. */
  held: async () => {
    for (let n = 0; n < 2; n += 1) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, held: heapUsed + external };
  },
};

answerParent(answers);
