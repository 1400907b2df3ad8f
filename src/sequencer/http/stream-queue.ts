const pauseAt = 64;
/** At this many messages, from a source that does not pause, the stream fails. */
const maxMessages = 1_024;

export interface StreamSource {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/**
 * A bounded queue for the messages between a socket and its reader.
 *
 *     open     -- end ----------------------------------------> ending: the reader still gets the queued messages
 *     ending   -- the reader gets the error of the end, if any --> ended
 *     any      -- return (the reader stops) --------------------> ended
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

  push(message: Uint8Array): boolean {
    if (this.#end) return true;
    if (this.#messages.length >= maxMessages) return false;
    this.#messages.push(message);
    if (this.#messages.length === pauseAt) this.#source.pause();
    this.#wake?.();
    return true;
  }

  /** No more messages follow. The reader still gets the queued ones. Only the first call counts. */
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
    this.#source.cancel();
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
