/** Where the router tells what an operator should know. `console` is one; so is a pino or winston instance in a wrapper. */
export interface Logger {
  warn(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}
