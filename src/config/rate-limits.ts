import { maxTimerMs } from '../async/timeout.js';
import type { RateLimits } from './config.js';
import { readDuration } from './duration.js';
import type { Report } from './report.js';

const defaultLimits = { intent: 120, session: 120, status: 3_000, webhook: 600 } as const;
const known: readonly string[] = [...Object.keys(defaultLimits), 'windowMs', 'store'];

/** How often an address may come; undefined where it may as often as it likes. */
export function readRateLimits(limits: Partial<RateLimits> | false = {}, report: Report): RateLimits | undefined {
  if (limits === false) return undefined;
  for (const name of Object.keys(limits)) {
    if (known.includes(name)) continue;
    report.problem('rateLimits', `There is no limit ${name}.`, `Known: ${known.join(', ')}.`);
  }
  const limitOf = (route: keyof typeof defaultLimits): number => {
    const limit = limits[route] ?? defaultLimits[route];
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
    const mend = `rateLimits: { ${route}: ${defaultLimits[route]} }, or rateLimits: false to limit nothing`;
    report.problem('rateLimits', `${route} is not a whole number over 0.`, mend);
    return defaultLimits[route];
  };
  return Object.freeze({
    intent: limitOf('intent'),
    session: limitOf('session'),
    status: limitOf('status'),
    webhook: limitOf('webhook'),
    windowMs: readDuration('rateLimits.windowMs', limits.windowMs, 60_000, report, maxTimerMs),
    store: readStore(limits.store, report),
  });
}

function readStore(store: RateLimits['store'], report: Report): RateLimits['store'] {
  const methods = ['increment', 'decrement', 'resetKey'] as const;
  if (store === undefined || methods.every((method) => typeof store?.[method] === 'function')) return store;
  const mend = 'rateLimits: { store: new RedisStore(...) }, or any other store of express-rate-limit';
  return report.problem('rateLimits', 'store is no store of express-rate-limit.', mend);
}
