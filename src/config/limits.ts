import type { ConfigSource, LimitOptions, RequestLimits, StreamLimits } from './config-options.js';
import type { Report } from './report.js';

export interface LimitConfig {
  /** Undefined if they are disabled. */
  readonly requests: RequestLimits | undefined;
  readonly streams: StreamLimits;
  readonly store: LimitOptions['store'];
}

const defaultRequests: RequestLimits = { intent: 120, session: 120, status: 3_000, webhook: 600 };
const defaultStreams: StreamLimits = { perBrowser: 3, perAddress: 20, perProcess: 5_000 };

export function readLimits({ options, report }: ConfigSource): LimitConfig {
  const { requests = {}, streams = {}, store } = options.limits ?? {};
  return Object.freeze({
    requests: requests === false ? undefined : readCounts('limits.requests', requests, defaultRequests, report),
    streams: readCounts('limits.streams', streams, defaultStreams, report),
    store: readStore(store, report),
  });
}

function readCounts<Name extends string>(
  setting: string,
  given: Readonly<Partial<Record<Name, number>>>,
  defaults: Readonly<Record<Name, number>>,
  report: Report,
): Readonly<Record<Name, number>> {
  const names = Object.keys(defaults) as Name[];
  report.unknownNames(setting, given, names);
  const counts = names.map((name) => [name, report.count(`${setting}.${name}`, given[name], defaults[name])]);
  return Object.freeze(Object.fromEntries(counts));
}

function readStore(store: LimitOptions['store'], report: Report): LimitOptions['store'] {
  const methods = ['increment', 'decrement', 'resetKey'] as const;
  if (store === undefined || methods.every((method) => typeof store?.[method] === 'function')) return store;
  const fix = 'limits: { store: new RedisStore(...) }, or any other store of express-rate-limit';
  return report.problem('limits.store', 'It must have the methods increment, decrement and resetKey.', fix);
}
