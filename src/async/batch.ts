export interface BatchOptions<Item, Result> {
  /** Processes a batch. The results are in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether a batch that failed with this error had no effect and may succeed without one of its items. */
  readonly isFaultOfItem: (error: unknown) => boolean;
  readonly maxItems: number;
  /** How many batches run at the same time. */
  readonly maxRunning: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Processes items that arrive at about the same time together. An item never waits for further items, only for running
 * batches, so batches grow with the load.
 *
 *     waiting -- fewer than maxRunning batches run --> running, with up to maxItems others
 *     running -- the batch succeeds or fails --------> done
 *     running -- one item may be at fault -----------> running alone, then done
 */
export class Batcher<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws what `run` throws */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Starts batches after all I/O events of this turn, so requests that arrived together are in one batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= this.#options.maxRunning) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#runNext();
    });
  }

  async #runNext(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxItems);
    this.#running += 1;
    if (this.#waiting.length > 0) this.#schedule();
    await this.#runBatch(batch);
    this.#running -= 1;
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && this.#options.isFaultOfItem(error)) {
        for (const one of batch) await this.#runBatch([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}
