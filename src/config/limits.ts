import { maxTimerMs } from '../async/timeout.js';
import type { ConfigSource, ConnectionLimits, RateLimits } from './config-options.js';
import type { Report } from './report.js';

const defaultConnectionLimits: ConnectionLimits = { perBrowser: 3, perAddress: 20, perProcess: 5_000 };

export function readConnectionLimits({ options, report }: ConfigSource): ConnectionLimits {
  const { connectionLimits = {} } = options;
  report.unknownNames('connectionLimits', connectionLimits, Object.keys(defaultConnectionLimits));
  const limitOf = (name: keyof ConnectionLimits): number => {
    const fix = `connectionLimits: { ${name}: ${defaultConnectionLimits[name]} }`;
    return readLimit(
      { setting: 'connectionLimits', name, fix },
      connectionLimits[name],
      defaultConnectionLimits[name],
      report,
    );
  };
  return Object.freeze({
    perBrowser: limitOf('perBrowser'),
    perAddress: limitOf('perAddress'),
    perProcess: limitOf('perProcess'),
  });
}

const defaultRates = { intent: 120, session: 120, status: 3_000, webhook: 600 } as const;

export function readRateLimits({ options, report }: ConfigSource): RateLimits | undefined {
  const { rateLimits = {} } = options;
  if (rateLimits === false) return undefined;
  report.unknownNames('rateLimits', rateLimits, [...Object.keys(defaultRates), 'windowMs', 'store']);
  const limitOf = (name: keyof typeof defaultRates): number => {
    const fix = `rateLimits: { ${name}: ${defaultRates[name]} }, or rateLimits: false to disable the limits`;
    return readLimit({ setting: 'rateLimits', name, fix }, rateLimits[name], defaultRates[name], report);
  };
  return Object.freeze({
    intent: limitOf('intent'),
    session: limitOf('session'),
    status: limitOf('status'),
    webhook: limitOf('webhook'),
    windowMs: report.duration('rateLimits.windowMs', rateLimits.windowMs, 60_000, { max: maxTimerMs }),
    store: readStore(rateLimits.store, report),
  });
}

function readLimit(
  { setting, name, fix }: { readonly setting: string; readonly name: string; readonly fix: string },
  value: number | undefined,
  fallback: number,
  report: Report,
): number {
  const limit = value ?? fallback;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  report.problem(setting, `${name} must be a whole number of at least 1.`, fix);
  return fallback;
}

function readStore(store: RateLimits['store'], report: Report): RateLimits['store'] {
  const methods = ['increment', 'decrement', 'resetKey'] as const;
  if (store === undefined || methods.every((method) => typeof store?.[method] === 'function')) return store;
  const fix = 'rateLimits: { store: new RedisStore(...) }, or any other store of express-rate-limit';
  return report.problem('rateLimits', '`store` must have the methods increment, decrement and resetKey.', fix);
}
