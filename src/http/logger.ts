/** Where the router tells what an operator should know. `console` is one; so is a pino or winston instance in a wrapper. */
export interface Logger {
  /** Something that somebody should look at, and that the site goes on with. */
  warn(message: string, details?: Record<string, unknown>): void;
  /** Something that did not work; `details` has what is known of the error, and no secret. */
  error(message: string, details?: Record<string, unknown>): void;
}

/** The same logger, but for its failures: what cannot be logged must not change what a request is answered. */
export function forgivingLogger(logger: Logger): Logger {
  const forgiving = (log: (message: string, details?: Record<string, unknown>) => unknown): Logger['warn'] => {
    return (message, details) => {
      try {
        Promise.resolve(log(message, details)).catch(() => undefined);
      } catch {
        // There is nobody left to tell.
      }
    };
  };
  return {
    warn: forgiving((message, details) => (details ? logger.warn(message, details) : logger.warn(message))),
    error: forgiving((message, details) => (details ? logger.error(message, details) : logger.error(message))),
  };
}
