import type { ConnectionLimits } from './config.js';
import type { Report } from './report.js';

const defaultLimits: ConnectionLimits = { perBrowser: 3, perAddress: 20, perProcess: 5_000 };

/** How many streams of events may be open. */
export function readConnectionLimits(limits: Partial<ConnectionLimits> = {}, report: Report): ConnectionLimits {
  for (const name of Object.keys(limits)) {
    if (Object.hasOwn(defaultLimits, name)) continue;
    report.problem('connections', `There is no limit ${name}.`, `Known: ${Object.keys(defaultLimits).join(', ')}.`);
  }
  const { perBrowser, perAddress, perProcess } = defaultLimits;
  return Object.freeze({
    perBrowser: readLimit('perBrowser', limits.perBrowser, perBrowser, report),
    perAddress: readLimit('perAddress', limits.perAddress, perAddress, report),
    perProcess: readLimit('perProcess', limits.perProcess, perProcess, report),
  });
}

function readLimit(name: string, value: number | undefined, byDefault: number, report: Report): number {
  const limit = value ?? byDefault;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  report.problem('connections', `${name} is not a whole number over 0.`, `connections: { ${name}: ${byDefault} }`);
  return byDefault;
}
