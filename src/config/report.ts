import { type ConfigProblem, IntentError } from '../errors.js';
import { unknownNames, unknownOption } from '../reject-unknown.js';
import { type Environment, knownVariables, overridingOption } from './variables.js';

interface Bounds {
  readonly min?: number;
  readonly max?: number | undefined;
}

/** Collects all problems of a configuration, and checks common kinds of values. */
export class Report {
  problems: ConfigProblem[] = [];
  readonly notices: string[] = [];
  readonly #options: object;

  constructor(options: object = {}) {
    this.#options = options;
  }

  /** @param setting an option or a variable. If an option overrides the variable, the option is reported, with its own fix. */
  problem(setting: string, problem: string, fix: string): undefined {
    const option = overridingOption(setting, this.#options);
    const found = { setting, problem, fix };
    this.problems.push(option ? problemOfOption(option, found) : found);
  }

  /** Replaces the problems of a variable with quotes around its value, such as `"simulator"`: `docker --env-file` keeps quotes. */
  refuseQuotes(env: Environment): void {
    const isQuoted = (name: string): boolean => /^(["']).*\1$/s.test(env[name] ?? '');
    for (const name of knownVariables) {
      if (!isQuoted(name) || overridingOption(name, this.#options)) continue;
      this.problems = this.problems.filter(({ setting }) => setting !== name);
      this.problem(name, 'It has quotes around the value.', 'Remove the quotes.');
    }
  }

  /** @param entry names the entry of a list, before the problem */
  parse<Value>(setting: string, fix: string, parse: () => Value, entry = ''): Value | undefined {
    try {
      return parse();
    } catch (error) {
      return this.problem(setting, entry + (error instanceof IntentError ? error.message : String(error)), fix);
    }
  }

  duration(setting: string, value: number | undefined, fallback: number, { min = 1, max }: Bounds = {}): number {
    return this.#number(setting, value, fallback, 'a whole number of milliseconds', { min, max });
  }

  count(setting: string, value: number | undefined, fallback: number, max?: number): number {
    return this.#number(setting, value, fallback, 'a whole number', { min: 1, max });
  }

  #number(
    setting: string,
    value: number | undefined,
    fallback: number,
    kind: string,
    { min = 1, max }: Bounds,
  ): number {
    const number = value === undefined ? fallback : value;
    if (Number.isSafeInteger(number) && number >= min && (max === undefined || number <= max)) return number;
    const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
    this.problem(setting, `It must be ${kind} ${range}.`, example(setting, `${fallback}`));
    return fallback;
  }

  /** Reports unknown members of an option: otherwise a typo would go unnoticed. */
  unknownNames(setting: string, given: object, known: readonly string[]): void {
    for (const name of unknownNames(given, known)) this.problems.push(unknownOption(`${setting}.${name}`, name, known));
  }
}

/** The same problem of an option. `INTENT_DOMAIN=example.com` in the fix becomes `domain: 'example.com'`. */
function problemOfOption(option: string, { setting, problem, fix }: ConfigProblem): ConfigProblem {
  const assignment = new RegExp(`${setting}=((?:<[^>]*>|[^\\s,])+)`, 'g');
  return {
    setting: option,
    problem: problem.replace(/^It is not set/, 'It is empty'),
    fix: fix.replace(assignment, (_, value) => example(option, /^\d+$/.test(value) ? value : `'${value}'`)),
  };
}

/** `origin: 'https://a.example'`, or `login: { ttlMs: 120000 }` for a member of a group. */
function example(setting: string, value: string): string {
  const [name = '', ...members] = setting.split('.');
  return `${name}: ${members.length > 0 ? `{ ${example(members.join('.'), value)} }` : value}`;
}
