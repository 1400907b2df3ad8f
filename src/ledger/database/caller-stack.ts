import { types } from 'node:util';
import { firstAppFrame, siteFrames } from '../../errors.js';

/**
 * Runs a database call that code of the site made. The stack of a driver's error ends inside the driver, so an error without a
 * frame of the site gets the stack of this call. The error stays the driver's object, with SQLSTATE, detail and constraint.
 * @throws what `call` throws
 */
export async function withCallerStack<Value>(call: () => Promise<Value>): Promise<Value> {
  const caller: { readonly stack?: string } = {};
  // Formatted only when it is read.
  Error.captureStackTrace(caller, withCallerStack);
  try {
    return await call();
  } catch (error) {
    if (types.isNativeError(error)) addCaller(error, caller);
    throw error;
  }
}

function addCaller(error: Error, caller: { readonly stack?: string }): void {
  const { stack } = error;
  if (stack === undefined || firstAppFrame(stack) !== undefined) return;
  const frames = siteFrames(caller.stack);
  // A frozen error keeps its stack.
  if (frames.length > 0) Reflect.set(error, 'stack', [stack.split('\n    at ')[0], ...frames].join('\n'));
}
