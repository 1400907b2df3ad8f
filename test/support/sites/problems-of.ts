import { ConfigError, type ConfigProblem } from '../../../src/errors.js';

/** The problems of a configuration. */
export function problemsOf(read: () => unknown): readonly ConfigProblem[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
