import { IncomingMessage } from 'node:http';
import { ConfigError } from '../errors.js';

/**
 * Rejects a function that was passed to Express instead of the handler that it returns.
 * @param first the first argument of the function
 * @param call the correct code
 * @throws {ConfigError}
 */
export function requireCalled(first: unknown, name: string, handler: 'a router' | 'a guard', call = `${name}()`): void {
  if (!(first instanceof IncomingMessage)) return;
  const problem = `Express received the function ${name} instead of ${handler}.`;
  throw new ConfigError([{ setting: name, problem, fix: `Call it: ${call}` }]);
}
