import { listenForAbort } from '../../async/abort.js';

/** Where a watch takes time and chance from, so that tests need neither. */
export interface WatchTiming {
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number;
  /** Runs `elapsed` once, after `delayMs`; what it gives back calls that off. */
  readonly startTimer: (elapsed: () => void, delayMs: number) => () => void;
  /** 0 up to but not 1. */
  readonly random: () => number;
}

// The timer holds the process: whoever waits for an event in a script would otherwise see it end in between.
export const systemTiming: WatchTiming = {
  now: () => performance.now(),
  startTimer: (elapsed, delayMs) => {
    const timer = setTimeout(elapsed, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Waits until `delayMs` have passed or one of the signals is aborted, and leaves no timer and no listener behind. */
export function waitFor(
  { delayMs, signals }: { delayMs: number; signals: readonly AbortSignal[] },
  { startTimer }: WatchTiming,
): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      stopTimer();
      unlisten();
      resolve();
    };
    const stopTimer = startTimer(finish, delayMs);
    const unlisten = listenForAbort(signals, finish);
    if (signals.some(({ aborted }) => aborted)) finish();
  });
}
