/** Receives log lines for the operator. `console`, winston and others have these methods. */
export interface Logger {
  /** Normal operation. Without this method, these lines go to `warn`. */
  info?(message: string, details?: Record<string, unknown>): void;
  /** A condition to investigate. The site continues. */
  warn(message: string, details?: Record<string, unknown>): void;
  /** A failure. `details` describes the error and contains no secret. */
  error(message: string, details?: Record<string, unknown>): void;
}

/** The logger that the router itself writes to. */
export type RouterLogger = Required<Logger>;

type Level = keyof RouterLogger;
type Write = (message: string, details?: Record<string, unknown>) => unknown;

/** Wraps the logger of a site; `false` logs nothing. Its errors are ignored: they must not change a response. */
export function routerLogger(given: Logger | false): RouterLogger {
  if (given === false) return { info: ignore, warn: ignore, error: ignore };
  const writeAt = (level: Level): Write => {
    const name = level === 'info' && typeof given.info !== 'function' ? 'warn' : level;
    return (message, details) => (details ? given[name]?.(message, details) : given[name]?.(message));
  };
  return {
    info: nonThrowing(writeAt('info')),
    warn: nonThrowing(writeAt('warn')),
    error: nonThrowing(writeAt('error')),
  };
}

function nonThrowing(write: Write): RouterLogger['warn'] {
  return (message, details) => {
    try {
      Promise.resolve(write(message, details)).catch(ignore);
    } catch {
      // The logger itself has failed.
    }
  };
}

function ignore(): void {}
