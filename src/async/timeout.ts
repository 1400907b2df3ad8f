import { type Abortable, listenForAbort, throwIfAborted } from './abort.js';

/** The longest delay of a timer, in milliseconds. A timer with a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

/** Whether a timer keeps this delay: a whole number of milliseconds from 1 to `maxTimerMs`. */
export function isTimerDelay(ms: number): boolean {
  return Number.isInteger(ms) && ms > 0 && ms <= maxTimerMs;
}

/** Waits for work until the signal is aborted. @throws the signal's reason @throws what the work throws */
export function withAbort<Value>(signal: Abortable, work: () => Value | Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const unlisten = listenForAbort([signal], ({ reason }) => reject(reason));
    Promise.resolve().then(work).then(resolve, reject).finally(unlisten);
  });
}

export interface TimeoutOptions {
  /** Ends the wait early, with its reason. */
  readonly signal?: Abortable | undefined;
  /** Makes the error of the timeout. Default: a `TimeoutError`. */
  readonly error?: (() => unknown) | undefined;
  /** Whether the timer keeps the process alive. Default false. */
  readonly ref?: boolean | undefined;
}

/**
 * Waits for work for at most `timeoutMs` milliseconds. The work gets a signal that is aborted when the wait ends early.
 *
 * The timer is held here: Node may collect the parts of `AbortSignal.any` as garbage, and a collected timeout never fires.
 * @throws the error of the timeout @throws the signal's reason @throws what the work throws
 */
export async function withTimeout<Value>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Value | Promise<Value>,
  { signal, error = () => timeoutError(timeoutMs), ref = false }: TimeoutOptions = {},
): Promise<Value> {
  throwIfAborted(signal);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(error()), timeoutMs);
  if (!ref) timer.unref();
  const unlisten = listenForAbort([signal], ({ reason }) => controller.abort(reason));
  try {
    return await withAbort(controller.signal, () => work(controller.signal));
  } finally {
    clearTimeout(timer);
    unlisten();
  }
}

/** Waits `delayMs` milliseconds, and keeps the process alive meanwhile. @throws the reason of a signal that is aborted */
export function delayUnlessAborted(delayMs: number, signals: readonly (Abortable | undefined)[]): Promise<void> {
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
  new DOMException(`It took longer than ${timeoutMs} ms.`, 'TimeoutError');
