/** The source is asked to pause at this many messages. */
const pauseAt = 64;
/** A source that does not pause is given up at this many. */
const maxMessages = 1_024;

/** The writing end of the queue. */
export interface StreamSource {
  pause(): void;
  resume(): void;
  /** The reader has left. */
  leave(): void;
}

/**
 * The messages of a socket until its one reader takes them: bounded, and in order.
 *
 * States: open; ended, while the reader still takes the messages before the end, and then the error of the end, if any; over.
 */
export class StreamQueue implements AsyncIterator<Uint8Array> {
  readonly #source: StreamSource;
  readonly #messages: Uint8Array[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Whether there was room. */
  push(message: Uint8Array): boolean {
    if (this.#end) return true;
    if (this.#messages.length >= maxMessages) return false;
    this.#messages.push(message);
    if (this.#messages.length === pauseAt) this.#source.pause();
    this.#wake?.();
    return true;
  }

  /** Nothing more comes; the reader still gets the messages before. Only the first end counts. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#messages.length === 0 && !this.#end) await this.#change();
    const value = this.#messages.shift();
    if (value) {
      if (this.#messages.length === pauseAt / 2) this.#source.resume();
      return { done: false, value };
    }
    const end = this.#end;
    this.#end = {};
    if (end && 'error' in end) throw end.error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#messages.length = 0;
    this.#end = {};
    this.#wake?.();
    this.#source.leave();
    return { done: true, value: undefined };
  }

  #change(): Promise<void> {
    const wakeOthers = this.#wake;
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        wakeOthers?.();
        resolve();
      };
    });
  }
}
