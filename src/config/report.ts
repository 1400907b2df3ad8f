import { type ConfigProblem, IntentError } from '../errors.js';
import { unknownNames, unknownOption } from '../reject-unknown.js';

/** Collects all problems of a configuration, and checks common kinds of values. */
export class Report {
  readonly problems: ConfigProblem[] = [];
  readonly notices: string[] = [];

  problem(setting: string, problem: string, fix: string): undefined {
    this.problems.push({ setting, problem, fix });
  }

  /** Runs a parser. An error becomes a problem of the setting. */
  parse<Value>(setting: string, fix: string, parse: () => Value): Value | undefined {
    try {
      return parse();
    } catch (error) {
      return this.problem(setting, error instanceof IntentError ? error.message : String(error), fix);
    }
  }

  /** A whole number of milliseconds from 1 to `max`. */
  duration(setting: string, value: number | undefined, fallback: number, max = Number.MAX_SAFE_INTEGER): number {
    return this.#number(setting, value, { fallback, max, kind: 'whole number of milliseconds' });
  }

  /** A whole number from 1 to `max`. */
  count(setting: string, value: number | undefined, fallback: number, max: number): number {
    return this.#number(setting, value, { fallback, max, kind: 'whole number' });
  }

  #number(
    setting: string,
    value: number | undefined,
    { fallback, max, kind }: { readonly fallback: number; readonly max: number; readonly kind: string },
  ): number {
    const number = value === undefined ? fallback : value;
    if (Number.isInteger(number) && number >= 1 && number <= max) return number;
    this.problem(setting, `It must be a ${kind} from 1 to ${max}.`, example(setting, fallback));
    return fallback;
  }

  /** Reports the members of an option that do not exist: a typo would have no effect. */
  unknownNames(setting: string, given: object, known: readonly string[]): void {
    for (const name of unknownNames(given, known)) this.problems.push(unknownOption(`${setting}.${name}`, name, known));
  }
}

/** `timeoutMs: 8000`, or `login: { ttlMs: 120000 }` for a member of an option. */
function example(setting: string, value: number): string {
  const [option = '', member] = setting.split('.');
  return member === undefined ? `${option}: ${value}` : `${option}: { ${member}: ${value} }`;
}
