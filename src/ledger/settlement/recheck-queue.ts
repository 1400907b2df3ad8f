/** How many hints wait at most. What does not fit is looked at when it is due. */
const capacity = 1_000;
/** When an intent is tried again that could not be claimed, because somebody was looking at it just then; milliseconds. */
const againAfterMs = [100, 200, 400, 800];

interface Hint {
  readonly told: Promise<void>;
  readonly tell: () => void;
  /** Waiting to be taken, or taken. */
  isWaiting: boolean;
  /** Hinted at once more after it was taken: the sequencer may have been asked before that. */
  isWantedAgain: boolean;
  misses: number;
}

/** The intents that somebody hinted at, each once. A hint may always be lost: nothing depends on it but how soon. */
export class Urgent {
  readonly #hints = new Map<string, Hint>();
  readonly #wake: () => void;
  #isClosed = false;

  /** @param wake called when there is something to take */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** How many wait to be taken. */
  get size(): number {
    let waiting = 0;
    for (const { isWaiting } of this.#hints.values()) if (isWaiting) waiting += 1;
    return waiting;
  }

  /** Resolves when the intent was looked at, or when it is known that it will not be. */
  add(id: string): Promise<void> {
    const known = this.#hints.get(id);
    if (known) {
      known.isWantedAgain = !known.isWaiting;
      return known.told;
    }
    if (this.#hints.size >= capacity) return Promise.resolve();
    const { promise, resolve } = deferred();
    this.#hints.set(id, { told: promise, tell: resolve, isWaiting: true, isWantedAgain: false, misses: 0 });
    this.#wake();
    return promise;
  }

  /** At most so many of them, to be looked at now. */
  take(limit: number): string[] {
    const taken: string[] = [];
    for (const [id, hint] of this.#hints) {
      if (taken.length >= limit) break;
      if (!hint.isWaiting) continue;
      hint.isWaiting = false;
      taken.push(id);
    }
    return taken;
  }

  /** These could not be claimed: they are settled, or somebody is looking at them, who may have asked too early. */
  missed(ids: readonly string[]): void {
    for (const id of ids) {
      const hint = this.#hints.get(id);
      if (!hint) continue;
      const waitMs = againAfterMs[hint.misses];
      hint.misses += 1;
      if (waitMs === undefined || this.#isClosed) this.#forget(id, hint);
      else setTimeout(() => this.#again(hint), waitMs).unref();
    }
  }

  /** It was looked at. */
  done(id: string): void {
    const hint = this.#hints.get(id);
    if (hint?.isWaiting) return;
    this.#hints.delete(id);
    hint?.tell();
    if (hint?.isWantedAgain) void this.add(id);
  }

  close(): void {
    this.#isClosed = true;
    for (const [id, hint] of this.#hints) this.#forget(id, hint);
  }

  #forget(id: string, hint: Hint): void {
    this.#hints.delete(id);
    hint.tell();
  }

  #again(hint: Hint): void {
    hint.isWaiting = true;
    this.#wake();
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
