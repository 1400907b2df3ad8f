// The measured process. It runs a module of bench/servers/.
import { once } from 'node:events';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { otherThreadsMs } from './machine.mjs';
import { handleCalls } from './process.mjs';

let server;

/** Garbage collections on the main thread while the observer is connected. */
let [collections, gcMs] = [0, 0];
const collectionObserver = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    collections += 1;
    gcMs += duration;
  }
});

handleCalls({
  start: async ({ module, ...options }) => {
    const { default: start } = await import(`./servers/${module}.mjs`);
    server = await start(options);
    server.keepAliveTimeout = 60_000;
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
    await once(server, 'listening');
    return server.address().port;
  },
  /** Observing a collection takes about a tenth of a millisecond. */
  observeCollections: (isOn) => {
    if (isOn) collectionObserver.observe({ entryTypes: ['gc'] });
    else collectionObserver.disconnect();
  },
  used: () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    return { cpuUs: user + system, otherThreadsMs: otherThreadsMs(), gcMs, collections, rss, heap: heapUsed };
  },
  /** Memory in bytes after a garbage collection: RSS, and the JavaScript heap. Requires `--expose-gc`. */
  held: async () => {
    for (let n = 0; n < 2; n += 1) {
      globalThis.gc();
      await wait(20);
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, held: heapUsed + external };
  },
});
