import type { IntentEvent, WatchIntent } from '../../../src/sequencer/watch/intent-event.js';

/** A started watch. */
export interface Watched {
  readonly id: string;
  readonly clientSecret: string | undefined;
  readonly signal: AbortSignal;
}

/** A watch whose events come from the test. */
export class FakeWatch {
  /** All started watches. */
  readonly started: Watched[] = [];
  /** Called when a watch starts. */
  onStart: () => void = () => undefined;
  readonly #open = new Map<Watched, (step: { event?: IntentEvent; error?: Error }) => void>();

  /** The number of running watches. */
  get running(): number {
    return this.#open.size;
  }

  readonly watch: WatchIntent = ({ id, clientSecret }, { signal }) => {
    const watched = { id, clientSecret, signal };
    this.started.push(watched);
    this.onStart();
    const steps: { event?: IntentEvent; error?: Error }[] = [];
    let wake = (): void => undefined;
    this.#open.set(watched, (step) => {
      steps.push(step);
      wake();
    });
    signal.addEventListener('abort', () => wake(), { once: true });
    return this.#events(watched, steps, (next) => {
      wake = next;
    });
  };

  /** Sends an event to all watches of this intent. */
  emit(id: string, event: IntentEvent): void {
    this.#step(id, { event });
  }

  /** Ends the watches of this intent early. */
  fail(id: string, error?: Error): void {
    this.#step(id, error ? { error } : {});
  }

  #step(id: string, step: { event?: IntentEvent; error?: Error }): void {
    for (const [watched, take] of this.#open) if (watched.id === id) take(step);
  }

  async *#events(
    watched: Watched,
    steps: { event?: IntentEvent; error?: Error }[],
    onWake: (wake: () => void) => void,
  ): AsyncGenerator<IntentEvent, void> {
    try {
      while (!watched.signal.aborted) {
        const step = steps.shift();
        if (step?.error) throw step.error;
        if (step && !step.event) return;
        if (step?.event) yield step.event;
        else await new Promise<void>((resolve) => onWake(resolve));
        if (step?.event?.kind === 'intent_submitted') return;
      }
    } finally {
      this.#open.delete(watched);
    }
  }
}
