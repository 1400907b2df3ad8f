import { AsyncResource } from 'node:async_hooks';

/** Which items an error of a batch affects. */
export type BatchFailure =
  /** One of the items may be the cause, and the batch had no effect. It is split to find that item. */
  | 'item'
  /** Affects all items of this batch. */
  | 'batch'
  /** May affect all batches. If the next batch to end has an outage too, the items in the queue fail. */
  | 'outage';

export interface BatcherOptions<Item, Result> {
  /** Processes a batch. The results are in the order of the items. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly classifyFailure: (error: unknown) => BatchFailure;
  readonly maxItems: number;
  /** How many batches run at the same time. */
  readonly maxRunning: number;
  /** When an item is added or a batch ends, items that have waited longer leave the queue with `timeoutError`. */
  readonly timeoutMs: number;
  readonly timeoutError: () => unknown;
}

interface QueuedItem<Item, Result> {
  readonly item: Item;
  readonly queuedAtMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

type Batch<Item, Result> = readonly QueuedItem<Item, Result>[];

/**
 * Processes items of concurrent callers together. An item waits only while `maxRunning` batches run, so batches grow with the load.
 *
 *     queued  -- fewer than maxRunning batches run --> running, with up to maxItems others
 *     queued  -- timeoutMs, or two outages in a row -> failed
 *     running -- the batch succeeds -----------------> done
 *     running -- one item may be the cause ----------> running, with half of the items
 *     running -- any other failure ------------------> failed
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  /** A batch runs in this context, not in that of the caller that starts it, because a batch belongs to all its callers. */
  readonly #context = new AsyncResource('Batcher');
  #queue: QueuedItem<Item, Result>[] = [];
  #running = 0;
  /** Consecutive batches that ended with an outage. */
  #outages = 0;
  #isScheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws what `run` throws, or the error of the timeout */
  add(item: Item): Promise<Result> {
    this.#dropExpired();
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, queuedAtMs: performance.now(), resolve, reject });
      this.#schedule();
    });
  }

  /** Starts a batch after the requests that have already arrived are handled, so the batch contains their items. */
  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0 || this.#running >= this.#options.maxRunning) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#context.runInAsyncScope(() => void this.#runNext());
    });
  }

  async #runNext(): Promise<void> {
    this.#dropExpired();
    const batch = this.#queue.splice(0, this.#options.maxItems);
    if (batch.length === 0) return;
    this.#running += 1;
    this.#schedule();
    await this.#runBatch(batch);
    this.#running -= 1;
    this.#schedule();
  }

  #dropExpired(): void {
    const { timeoutMs, timeoutError } = this.#options;
    const oldestMs = performance.now() - timeoutMs;
    const remaining = this.#queue.findIndex(({ queuedAtMs }) => queuedAtMs >= oldestMs);
    const expired = this.#queue.splice(0, remaining === -1 ? this.#queue.length : remaining);
    for (const { reject } of expired) reject(timeoutError());
  }

  async #runBatch(batch: Batch<Item, Result>): Promise<void> {
    const parts = [batch];
    for (let part = parts.shift(); part; part = parts.shift()) {
      try {
        const results = await this.#options.run(part.map(({ item }) => item));
        this.#outages = 0;
        for (const [index, { resolve }] of part.entries()) resolve(results[index] as Result);
      } catch (error) {
        const failure = this.#options.classifyFailure(error);
        const half = Math.ceil(part.length / 2);
        if (failure === 'item' && part.length > 1) {
          parts.unshift(part.slice(0, half), part.slice(half));
          continue;
        }
        const others = failure === 'item' ? [] : parts.splice(0).flat();
        this.#outages = failure === 'outage' ? this.#outages + 1 : 0;
        const queued = this.#outages > 1 ? this.#queue.splice(0) : [];
        for (const { reject } of [...part, ...others, ...queued]) reject(error);
      }
    }
  }
}
