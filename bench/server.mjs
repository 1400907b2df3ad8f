// The measured process. It runs a module of bench/servers/.
import { once } from 'node:events';
import { handleCalls } from './process.mjs';

let server;

handleCalls({
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
  /** Memory in bytes after a garbage collection: RSS, and the JavaScript heap. Requires `--expose-gc`. */
  held: async () => {
    for (let n = 0; n < 2; n += 1) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, held: heapUsed + external };
  },
});
