import { ConfigError, type ConfigProblem } from '../../../src/errors.js';

/** What a configuration is refused for; nothing where it is not. */
export function problemsOf(read: () => unknown): readonly ConfigProblem[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
