import type { Handler } from '../handler.js';
import { sendJson } from '../response/respond.js';
import type { HealthCheck, RouterHealth } from './health.js';

/**
 * The route `health`, for load balancers: 200, or 503 for a process that is to be taken out. Anybody may ask, so it tells
 * what is wrong and no numbers.
 */
export function showHealthHandler(health: () => Promise<RouterHealth>): Handler {
  return async (_req, res) => {
    const { status, checks } = await health();
    const parts = Object.entries<HealthCheck | undefined>(checks);
    const told = parts.flatMap(([name, check]) => (check ? [[name, publicCheck(check)]] : []));
    sendJson(res, status === 'down' ? 503 : 200, { status, checks: Object.fromEntries(told) });
  };
}

function publicCheck({ status, reason }: HealthCheck): HealthCheck {
  return { status, ...(reason !== undefined && { reason }) };
}
