/** Where the router tells what an operator should know. `console` is one; so are winston and others like it. */
export interface Logger {
  /** For what is no trouble; without it that goes to `warn`. */
  info?(message: string, details?: Record<string, unknown>): void;
  /** Something that somebody should look at, and that the site goes on with. */
  warn(message: string, details?: Record<string, unknown>): void;
  /** Something that did not work; `details` has what is known of the error, and no secret. */
  error(message: string, details?: Record<string, unknown>): void;
}

/** The logger that the router itself writes to. */
export type RouterLogger = Required<Logger>;

type Level = keyof RouterLogger;
type Write = (message: string, details?: Record<string, unknown>) => unknown;

/**
 * What the router writes to, for a logger that the site has given; `false` is silence. Its failures stay its own: what cannot
 * be logged must not change what a request is answered.
 */
export function routerLogger(given: Logger | false): RouterLogger {
  if (given === false) return { info: ignore, warn: ignore, error: ignore };
  const writeAt = (level: Level): Write => {
    const name = level === 'info' && typeof given.info !== 'function' ? 'warn' : level;
    return (message, details) => (details ? given[name]?.(message, details) : given[name]?.(message));
  };
  return { info: forgiving(writeAt('info')), warn: forgiving(writeAt('warn')), error: forgiving(writeAt('error')) };
}

function forgiving(write: Write): RouterLogger['warn'] {
  return (message, details) => {
    try {
      Promise.resolve(write(message, details)).catch(ignore);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function ignore(): void {}
