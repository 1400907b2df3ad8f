import { firstAppFrame, siteFrames } from './errors.js';

/**
 * Runs a call that code of the site made. The stack of an error ends at the first callback of Node or of a driver, so an error
 * without a frame of the site gets the frames of this call. The error stays the same object, for instance that of a database
 * driver with SQLSTATE, detail and constraint.
 * @throws what `call` throws
 */
export async function withCallerStack<Value>(call: () => Promise<Value>): Promise<Value> {
  const caller: { readonly stack?: string } = {};
  // Formatted only when it is read. Only V8 has it.
  Error.captureStackTrace?.(caller, withCallerStack);
  try {
    return await call();
  } catch (error) {
    addCaller(error, caller);
    throw error;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: `unknown[]` would reject methods with typed parameters.
type Method = (...args: any[]) => unknown;

/** The methods of a public object, each of which runs {@link withCallerStack}. All must return promises. */
export function withCallerStacks<Methods extends object>(methods: Methods): Methods {
  const wrapped = Object.entries(methods as Record<string, Method>).map(([name, method]) => [
    name,
    (...args: unknown[]) => withCallerStack(async () => method(...args)),
  ]);
  return Object.freeze(Object.fromEntries(wrapped));
}

function addCaller(error: unknown, caller: { readonly stack?: string }): void {
  // Other thrown values belong to the site. Not `instanceof`, because test runners have their own Error class.
  if (Object.prototype.toString.call(error) !== '[object Error]') return;
  try {
    const { stack } = error as Error;
    if (typeof stack !== 'string' || firstAppFrame(stack) !== undefined) return;
    const frames = siteFrames(caller.stack);
    // A frozen error keeps its stack.
    if (frames.length > 0) Reflect.set(error as Error, 'stack', [stack.split('\n    at ')[0], ...frames].join('\n'));
  } catch {
    // An accessor of the error threw. The caller gets the error itself.
  }
}
