/** The maximum number of payments. One that does not fit is polled when it is due. */
const capacity = 1_000;
/** The delays before retries while another process has the claim, in milliseconds. */
const retryDelaysMs = [100, 200, 400, 800];

interface Recheck {
  readonly finished: Promise<void>;
  readonly finish: () => void;
  isWaiting: boolean;
  /** Requested again after it was taken. The running status call may be older than that request. */
  isRequestedAgain: boolean;
  misses: number;
}

/**
 * The payments that a settlement polls before they are due, each once.
 *
 *     (absent) -- add ----> waiting
 *     waiting  -- add ----> waiting: both requests share one recheck
 *     waiting  -- take ---> taken: the settlement tries to claim the payment
 *     taken    -- add ----> taken, and it waits again after `done`
 *     taken    -- missed -> another process has the claim: waiting again after 100, 200, 400 and 800 ms, then absent
 *     taken    -- done ---> absent: polled, or not unpaid any more
 *     any      -- close --> absent
 *
 * A recheck may be lost. That only delays the poll of the payment.
 */
export class RecheckQueue {
  readonly #rechecks = new Map<string, Recheck>();
  readonly #wake: () => void;
  #isClosed = false;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  get waiting(): number {
    let waiting = 0;
    for (const { isWaiting } of this.#rechecks.values()) if (isWaiting) waiting += 1;
    return waiting;
  }

  /** Resolves when the payment leaves the queue, after a poll or without one. */
  add(id: string): Promise<void> {
    const queued = this.#rechecks.get(id);
    if (queued) {
      queued.isRequestedAgain = !queued.isWaiting;
      return queued.finished;
    }
    if (this.#rechecks.size >= capacity) return Promise.resolve();
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#rechecks.set(id, { finished, finish, isWaiting: true, isRequestedAgain: false, misses: 0 });
    this.#wake();
    return finished;
  }

  /** Takes up to `limit` waiting payments, oldest first. */
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

  /** Retries payments that could not be claimed: the poll of the claim's holder may have been too early. */
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
    // The finished work was claimed before this request.
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
    recheck.finish();
  }

  #retry(recheck: Recheck): void {
    recheck.isWaiting = true;
    this.#wake();
  }
}
