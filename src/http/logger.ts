/** Where the router tells what an operator should know. `console` is one; so are winston and others like it. */
export interface Logger {
  /** For what is no trouble; without it that goes to `warn`. */
  info?(message: string, details?: Record<string, unknown>): void;
  /** Something that somebody should look at, and that the site goes on with. */
  warn(message: string, details?: Record<string, unknown>): void;
  /** Something that did not work; `details` has what is known of the error, and no secret. */
  error(message: string, details?: Record<string, unknown>): void;
}

/** A logger like pino and bunyan, which take what goes with a message before the message. */
export interface ObjectFirstLogger {
  /** For what is no trouble. */
  info(details: object, message?: string): void;
  /** Something that somebody should look at, and that the site goes on with. */
  warn(details: object, message?: string): void;
  /** Something that did not work; `details.err` has what is known of the error, and no secret. */
  error(details: object, message?: string): void;
  /** What such loggers have, and are known by. */
  child(bindings: object): unknown;
}

/** The logger that the router itself writes to. */
export type RouterLogger = Required<Logger>;

type Level = keyof RouterLogger;
type Write = (message: string, details?: Record<string, unknown>) => unknown;

/**
 * What the router writes to, for a logger that the site has given; `false` is silence. Its failures stay its own: what cannot
 * be logged must not change what a request is answered.
 */
export function routerLogger(given: Logger | ObjectFirstLogger | false): RouterLogger {
  if (given === false) return { info: ignore, warn: ignore, error: ignore };
  const writeAt = (level: Level): Write => {
    if (isObjectFirst(given)) return (message, details) => given[level](fieldsOf(details), message);
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

/**
 * Whether it is pino, or like it: `bindings` are pino's own, `addStream` is bunyan's, and Fastify asks for `silent` of whatever
 * is to stand in for pino. winston has children too, and takes the message first.
 */
function isObjectFirst(logger: Logger | ObjectFirstLogger): logger is ObjectFirstLogger {
  const { child, bindings, addStream, silent, fatal } = logger as unknown as Record<string, unknown>;
  const isFunction = (value: unknown): boolean => typeof value === 'function';
  return (
    isFunction(child) && (isFunction(bindings) || isFunction(addStream) || (isFunction(silent) && isFunction(fatal)))
  );
}

/** What tells of an error becomes one, under `err`, which is where such loggers look for errors; the rest stays beside it. */
function fieldsOf(details: Record<string, unknown> = {}): Record<string, unknown> {
  const { requestId, intent, message, stack = message, ...rest } = details;
  if (typeof message !== 'string') return details;
  const err = Object.assign(new Error(message), { stack, ...rest });
  return { ...(requestId !== undefined && { requestId }), ...(intent !== undefined && { intent }), err };
}
