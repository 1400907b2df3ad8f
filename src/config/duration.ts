import type { Report } from './report.js';

/** Reads a whole number of milliseconds over 0, at most `max`. */
export function readDuration(
  setting: string,
  value: number | undefined,
  byDefault: number,
  report: Report,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const duration = value ?? byDefault;
  if (Number.isInteger(duration) && duration > 0 && duration <= max) return duration;
  const problem = `It is not a whole number of milliseconds from 1 to ${max}.`;
  report.problem(setting, problem, `${setting}: ${byDefault}`);
  return byDefault;
}
