import { type ConfigProblem, IntentError } from '../errors.js';

/** Collects what is wrong, so that it is told at once. */
export class Report {
  readonly problems: ConfigProblem[] = [];
  readonly notices: string[] = [];

  problem(setting: string, problem: string, mend: string): undefined {
    this.problems.push({ setting, problem, mend });
  }

  /** Runs a parser; what it throws becomes a problem of this setting. */
  read<Value>(setting: string, mend: string, parse: () => Value): Value | undefined {
    try {
      return parse();
    } catch (error) {
      return this.problem(setting, error instanceof IntentError ? error.message : String(error), mend);
    }
  }
}
