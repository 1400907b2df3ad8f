import type { IntentEvent, WatchIntent } from './intent-event.js';
import type { CallOptions } from './transport.js';

/** A watch for which no signal is needed, and the end of all that run. */
export interface ClosableWatch {
  watch(intent: Parameters<WatchIntent>[0], options?: CallOptions): AsyncIterable<IntentEvent>;
  /** Ends the watches that run; one that is begun later ends at once. */
  close(): void;
}

export function closableWatch(watchIntent: WatchIntent): ClosableWatch {
  const running = new Set<AbortController>();
  let isClosed = false;
  return {
    watch: async function* (intent, { signal } = {}) {
      // Not AbortSignal.any: of a signal that outlives its watches it would keep a trace of each.
      const ending = new AbortController();
      const end = (): void => ending.abort();
      signal?.addEventListener('abort', end, { once: true });
      if (isClosed || signal?.aborted) end();
      running.add(ending);
      try {
        yield* watchIntent(intent, { signal: ending.signal });
      } finally {
        running.delete(ending);
        signal?.removeEventListener('abort', end);
      }
    },
    close: () => {
      isClosed = true;
      for (const ending of running) ending.abort();
    },
  };
}
