import { setTimeout as wait } from 'node:timers/promises';

/**
 * After SIGTERM the health check fails and everything else works for this time, so load balancers stop sending requests: more
 * than two intervals of their check. 0 if they stop before SIGTERM, as with restart.sh or preStop, or without a load balancer.
 */
const drainMs = 5_000;
/** The process exits at most this long after the drain. The supervisor must wait longer than drainMs + timeoutMs. */
const timeoutMs = 9_500;
/** The part of `timeoutMs` for telemetry. */
const telemetryMs = 1_000;

/**
 * Ends the process on SIGTERM: first the drain, then requests and hooks of the router, then other requests, then telemetry.
 * @param {import('node:http').Server} server
 * @param {import('express-intents').IntentRouter} router
 * @param {() => Promise<unknown>} [endTelemetry] exports the last spans and metrics, such as `() => sdk.shutdown()`
 */
export function shutDownOnSigterm(server, router, endTelemetry = async () => {}) {
  let running = 0; // requests without a response, of the whole site
  server.on('request', (_req, res) => {
    running += 1;
    res.once('close', () => {
      running -= 1;
    });
  });
  async function shutDown() {
    const deadline = performance.now() + drainMs + timeoutMs;
    // Another process settles the remaining payments, or this one after its next start.
    setTimeout(() => process.exit(0), drainMs + timeoutMs);
    // The server still listens, so that load balancers see the health check fail.
    await router.close({ drainMs });
    server.close();
    while (running > 0 && performance.now() < deadline - telemetryMs) await wait(20);
    // The remaining connections are idle.
    server.closeAllConnections();
    await endTelemetry();
    process.exit(0);
  }
  process.once('SIGTERM', () => {
    shutDown().catch((error) => {
      console.error(error);
      process.exit(1);
    });
  });
}
