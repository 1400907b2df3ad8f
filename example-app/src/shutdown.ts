import { once } from 'node:events';
import type { Server } from 'node:http';
import type { IntentRouter } from 'express-intents';

/** Under npm one Ctrl-C is two signals: one from the terminal, and one that npm forwards. */
const duplicateSignalMs = 500;

/** Docker kills a process ten seconds after SIGTERM. Set `SHUTDOWN_TIMEOUT_MS` if your supervisor waits longer. */
const shutdownTimeoutMs = Number(process.env.SHUTDOWN_TIMEOUT_MS || 9_500);

/**
 * Shuts the site down on SIGTERM and Ctrl-C: completes active requests and hooks, then closes the database and the port.
 * A second Ctrl-C exits immediately, and the next start recovers as after a crash.
 * @returns a signal, aborted when the shutdown starts
 */
export function shutDownOnSignal(server: Server, router: IntentRouter): AbortSignal {
  const shutdown = new AbortController();
  const allAnswered = trackResponses(server);
  let startedAtMs = 0;
  const shutDown = async (): Promise<void> => {
    startedAtMs = performance.now();
    shutdown.abort();
    setTimeout(exitAfterTimeout, shutdownTimeoutMs);
    // The health check fails from now on. Event streams reconnect to another process. Active payments and logins complete.
    await router.close();
    // The port was open until now for the health check. Active requests complete.
    server.close();
    await allAnswered();
    // The remaining connections are idle.
    server.closeAllConnections();
    process.exit(0);
  };
  process.on('SIGTERM', () => {
    if (!shutdown.signal.aborted) shutDown().catch(fail);
  });
  process.on('SIGINT', () => {
    if (!shutdown.signal.aborted) shutDown().catch(fail);
    else if (performance.now() - startedAtMs > duplicateSignalMs) process.exit(130);
  });
  return shutdown.signal;
}

/** @returns a function that resolves when no request waits for its response */
function trackResponses(server: Server): () => Promise<void> {
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

function exitAfterTimeout(): void {
  console.error('Shutdown timed out. The next start completes the interrupted work.');
  process.exit(0);
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
