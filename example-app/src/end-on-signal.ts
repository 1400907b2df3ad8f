import { once } from 'node:events';
import type { Server } from 'node:http';
import type { IntentRouter } from 'express-intents';

/** One Ctrl-C is two signals under npm: the terminal's own, and the same passed on by npm. */
const sameMomentMs = 500;

/** Most supervisors kill a process ten seconds after SIGTERM. `SHUTDOWN_TIMEOUT_MS` is for those that wait longer. */
const shutdownTimeoutMs = Number(process.env.SHUTDOWN_TIMEOUT_MS || 9_500);

/**
 * Ends the site on SIGTERM and on Ctrl-C: nothing new is begun, what was begun is ended, and the next start finds its ports
 * and its database free. A second Ctrl-C ends it at once: the next start takes up what was left, as after a crash.
 * @returns aborted once it ends
 */
export function endOnSignal(server: Server, router: IntentRouter): AbortSignal {
  const ending = new AbortController();
  const answered = watchAnswers(server);
  let startedAtMs = 0;
  const end = async (): Promise<void> => {
    startedAtMs = performance.now();
    ending.abort();
    setTimeout(giveUp, shutdownTimeoutMs);
    // Health is red from here on. Pages that listen come back to another process; payments and logins that run are ended.
    await router.close();
    // Until now a load balancer could see how we are. The pages that were asked for are still sent.
    server.close();
    await answered();
    // Of the connections that are left none waits for anything.
    server.closeAllConnections();
    process.exit(0);
  };
  process.on('SIGTERM', () => {
    if (!ending.signal.aborted) end().catch(fail);
  });
  process.on('SIGINT', () => {
    if (!ending.signal.aborted) end().catch(fail);
    else if (performance.now() - startedAtMs > sameMomentMs) process.exit(130);
  });
  return ending.signal;
}

/** Resolves, whenever it is asked, once there is no request that waits for its answer. */
function watchAnswers(server: Server): () => Promise<void> {
  let waiting = 0;
  server.on('request', (_req, res) => {
    waiting += 1;
    res.once('close', () => {
      waiting -= 1;
      if (waiting === 0) server.emit('answered');
    });
  });
  return async () => {
    if (waiting > 0) await once(server, 'answered');
  };
}

function giveUp(): void {
  console.error('Not everything came to its end in time. The next start takes it up.');
  process.exit(0);
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
