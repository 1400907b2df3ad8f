/** Payments in the queue at most. One that does not fit is polled when it is due. */
const capacity = 1_000;
/** Delays before a payment is retried whose claim another process holds, in milliseconds. */
const retryDelaysMs = [100, 200, 400, 800];

interface Recheck {
  readonly settled: Promise<void>;
  readonly settle: () => void;
  isWaiting: boolean;
  /** Requested again after it was taken: the call to the sequencer may be older than that request. */
  isRequestedAgain: boolean;
  misses: number;
}

/**
 * The payments that a settlement polls before they are due, each once.
 *
 * - `add`: waiting. A request for a payment that waits joins it.
 * - `take`: the settlement tries to claim it. A request from then on makes it wait once more after `done`.
 * - `done`: polled, or nothing is left to do; out of the queue.
 * - `missed`: another process holds the claim. It waits again after 100, 200, 400 and 800 ms, then leaves the queue.
 *
 * A recheck may be lost: it decides only how soon a payment is polled.
 */
export class RecheckQueue {
  readonly #rechecks = new Map<string, Recheck>();
  readonly #wake: () => void;
  #isClosed = false;

  /** @param wake called when a payment waits */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** How many wait to be taken. */
  get size(): number {
    let waiting = 0;
    for (const { isWaiting } of this.#rechecks.values()) if (isWaiting) waiting += 1;
    return waiting;
  }

  /** Resolves when the payment was polled, or left the queue for another reason. */
  add(id: string): Promise<void> {
    const queued = this.#rechecks.get(id);
    if (queued) {
      queued.isRequestedAgain = !queued.isWaiting;
      return queued.settled;
    }
    if (this.#rechecks.size >= capacity) return Promise.resolve();
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#rechecks.set(id, { settled, settle, isWaiting: true, isRequestedAgain: false, misses: 0 });
    this.#wake();
    return settled;
  }

  /** At most `limit` of those that wait, the oldest first. */
  take(limit: number): string[] {
    const taken: string[] = [];
    for (const [id, recheck] of this.#rechecks) {
      if (taken.length >= limit) break;
      if (!recheck.isWaiting) continue;
      recheck.isWaiting = false;
      taken.push(id);
    }
    return taken;
  }

  /** These could not be claimed. The holder of the claim may have called the sequencer too early. */
  missed(ids: readonly string[]): void {
    for (const id of ids) {
      const recheck = this.#rechecks.get(id);
      if (!recheck) continue;
      const delayMs = retryDelaysMs[recheck.misses];
      recheck.misses += 1;
      if (delayMs === undefined || this.#isClosed) this.#remove(id, recheck);
      else setTimeout(() => this.#retry(recheck), delayMs).unref();
    }
  }

  done(id: string): void {
    const recheck = this.#rechecks.get(id);
    // What ends here is work that was claimed before the request.
    if (!recheck || recheck.isWaiting) return;
    this.#remove(id, recheck);
    if (recheck.isRequestedAgain) void this.add(id);
  }

  close(): void {
    this.#isClosed = true;
    for (const [id, recheck] of this.#rechecks) this.#remove(id, recheck);
  }

  #remove(id: string, recheck: Recheck): void {
    this.#rechecks.delete(id);
    recheck.settle();
  }

  #retry(recheck: Recheck): void {
    recheck.isWaiting = true;
    this.#wake();
  }
}
