import type { IntentEvent, WatchIntent } from './intent-event.js';

/** A watch for which no signal is needed, and the end of all that run. */
export interface ClosableWatch {
  watch(
    intent: Parameters<WatchIntent>[0],
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<IntentEvent>;
  /** Ends the watches that run; one that is begun later ends at once. */
  close(): void;
}

export function closableWatch(watchIntent: WatchIntent): ClosableWatch {
  const running = new Set<AbortController>();
  let isClosed = false;
  return {
    watch: async function* (intent, { signal } = {}) {
      // One of its own for each: were `close` a signal too, it would outlive the watches and keep a trace of each.
      const ending = new AbortController();
      if (isClosed) ending.abort();
      running.add(ending);
      try {
        yield* watchIntent(intent, { signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal });
      } finally {
        running.delete(ending);
      }
    },
    close: () => {
      isClosed = true;
      for (const ending of running) ending.abort();
    },
  };
}
