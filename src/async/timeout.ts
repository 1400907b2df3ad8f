import { type AbortSignalLike, listenForAbort, throwIfAborted } from './abort.js';

/** The longest delay of a timer, in milliseconds. A timer with a longer delay fires immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/** Whether a timer supports this delay: an integer from 1 to `maxTimerMs`. */
export function isTimerDelay(ms: number): boolean {
  return Number.isInteger(ms) && ms > 0 && ms <= maxTimerMs;
}

/** Waits for work until the signal aborts. @throws the reason of the signal @throws the error of the work */
export function withAbort<Value>(signal: AbortSignalLike, work: () => Value | Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const unlisten = listenForAbort([signal], ({ reason }) => reject(reason));
    Promise.resolve().then(work).then(resolve, reject).finally(unlisten);
  });
}

export interface TimeoutOptions {
  /** Cancels the wait with its reason. In a list, any of the signals does. */
  readonly signal?: AbortSignalLike | readonly (AbortSignalLike | undefined)[] | undefined;
  /** Creates the error of the timeout. Default: a `TimeoutError`. */
  readonly error?: (() => unknown) | undefined;
  /** Whether the timer keeps the process alive. Default false. */
  readonly ref?: boolean | undefined;
}

/**
 * Waits at most `timeoutMs` milliseconds for work. The signal passed to the work aborts when the wait ends early.
 *
 * This function holds the timer, because Node may garbage-collect the parts of `AbortSignal.any`, and then the timeout never
 * fires.
 * @throws the error of the timeout @throws the reason of a signal @throws the error of the work
 */
export async function withTimeout<Value>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Value | Promise<Value>,
  { signal, error = () => timeoutError(timeoutMs), ref = false }: TimeoutOptions = {},
): Promise<Value> {
  const signals = [signal].flat();
  throwIfAborted(...signals);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(error()), timeoutMs);
  if (!ref) timer.unref();
  const unlisten = listenForAbort(signals, ({ reason }) => controller.abort(reason));
  try {
    return await withAbort(controller.signal, () => work(controller.signal));
  } finally {
    clearTimeout(timer);
    unlisten();
  }
}

/** Waits `delayMs` milliseconds and keeps the process alive. @throws the reason of a signal that aborts */
export function delayUnlessAborted(delayMs: number, signals: readonly (AbortSignalLike | undefined)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      unlisten();
      resolve();
    }, delayMs);
    const unlisten = listenForAbort(signals, ({ reason }) => {
      clearTimeout(timer);
      unlisten();
      reject(reason);
    });
  });
}

const timeoutError = (timeoutMs: number): DOMException =>
  new DOMException(`The operation took longer than ${timeoutMs} ms.`, 'TimeoutError');

/** Not a `DOMException`, which jest does not recognize as an error. */
class HookTimeout extends Error {
  static {
    HookTimeout.prototype.name = 'TimeoutError';
  }
}

/**
 * The error of a hook of the site that took too long, for `withTimeout`.
 * @param hasLedger whether `ledger.hookLimits.timeoutMs` applies
 */
export const hookTimeoutError = (hook: string, timeoutMs: number, hasLedger: boolean) => (): Error => {
  const option = hasLedger ? ', or raise ledger.hookLimits.timeoutMs' : '';
  return new HookTimeout(`${hook} timed out after ${timeoutMs} ms. Move slow work out of the hook${option}.`);
};
