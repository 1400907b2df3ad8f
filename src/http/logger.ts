import { printable } from '../printable.js';

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

/**
 * Wraps the logger of a site; `false` logs nothing. Its errors are ignored: they must not change a response.
 *
 * All lines pass here, so here control characters are escaped. Any message may quote outside text, such as those of the errors of
 * other packages, and could otherwise begin a line of its own in the log.
 */
export function routerLogger(given: Logger | false): RouterLogger {
  if (given === false) return { info: ignore, warn: ignore, error: ignore };
  const writeAt = (level: Level): Write => {
    const name = level === 'info' && typeof given.info !== 'function' ? 'warn' : level;
    return (message, details) =>
      details ? given[name]?.(printable(message), printableDetails(details)) : given[name]?.(printable(message));
  };
  return {
    info: nonThrowing(writeAt('info')),
    warn: nonThrowing(writeAt('warn')),
    error: nonThrowing(writeAt('error')),
  };
}

/** Details are flat. */
function printableDetails(details: Record<string, unknown>): Record<string, unknown> {
  const escaped = Object.entries(details).map(([name, value]) => {
    if (typeof value !== 'string') return [name, value];
    return [name, name === 'stack' ? printableStack(value, details.message) : printable(value)];
  });
  return Object.fromEntries(escaped);
}

/** Keeps the line breaks before the frames of a stack, and none of the message in front of them, which may look like frames. */
function printableStack(stack: string, message: unknown): string {
  const end = typeof message === 'string' && stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  const frames = stack.slice(end).split(/\n(?= {4}at )/);
  return printable(stack.slice(0, end)) + frames.map(printable).join('\n');
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
