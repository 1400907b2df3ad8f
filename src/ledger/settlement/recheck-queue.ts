/** The maximum number of payments. One that does not fit is polled when it is due. */
const capacity = 1_000;
const longestDelayMs = 800;
/** The delays before retries while the payment is claimed, in milliseconds. */
const retryDelaysMs = [100, 200, 400, longestDelayMs];

class Recheck {
  readonly finished: Promise<void>;
  readonly finish: () => void;
  isWaiting = true;
  /** Requested after this one was taken: the running status call may be older than that request. */
  next: Recheck | undefined;
  misses = 0;
  /** Set while this one is missed. */
  retryTimer: NodeJS.Timeout | undefined;

  constructor() {
    let finish = (): void => undefined;
    this.finished = new Promise((resolve) => {
      finish = resolve;
    });
    this.finish = finish;
  }
}

/**
 * The payments that a settlement polls before they are due, each once.
 *
 *     (absent) -- add ----> waiting
 *     waiting  -- add ----> waiting: both requests share one recheck
 *     waiting  -- take ---> taken: the settlement tries to claim the payment
 *     taken, missed -- add -> the same, and the next recheck waits after `done`
 *     taken    -- missed -> missed: the payment is claimed already. If another process has the claim, absent after four
 *                           retries
 *     taken    -- putBack -> waiting: the claim failed, because the database is not available
 *     taken    -- done ---> absent: polled, or not unpaid any more
 *     missed   -- 100, 200, 400, 800, 800 ... ms have passed -> waiting
 *     missed   -- claimEnded -> waiting: this process had the claim
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
    if (queued?.isWaiting) return queued.finished;
    if (queued) {
      queued.next ??= new Recheck();
      return queued.next.finished;
    }
    if (this.#rechecks.size >= capacity) return Promise.resolve();
    return this.#enqueue(id, new Recheck());
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

  /**
   * Retries payments that could not be claimed: the poll of the claim's holder may have been too early.
   * @param claimedHere the payments that this process has claimed
   */
  missed(ids: readonly string[], claimedHere: ReadonlySet<string> = new Set()): void {
    for (const id of ids) {
      const recheck = this.#rechecks.get(id);
      if (!recheck) continue;
      const delayMs = retryDelaysMs[recheck.misses] ?? (claimedHere.has(id) ? longestDelayMs : undefined);
      recheck.misses += 1;
      if (delayMs === undefined || this.#isClosed) this.#remove(id, recheck);
      else recheck.retryTimer = setTimeout(() => this.#retry(recheck), delayMs).unref();
    }
  }

  /** This process no longer has the claim of a scheduled poll, whose status may be older than the recheck. */
  claimEnded(id: string): void {
    const recheck = this.#rechecks.get(id);
    if (!recheck) return;
    recheck.misses = 0;
    if (recheck.retryTimer) this.#retry(recheck);
  }

  putBack(ids: readonly string[]): void {
    for (const id of ids) {
      const recheck = this.#rechecks.get(id);
      if (recheck) recheck.isWaiting = true;
    }
  }

  done(id: string): void {
    const recheck = this.#rechecks.get(id);
    // The finished work was claimed before this request.
    if (!recheck || recheck.isWaiting) return;
    this.#rechecks.delete(id);
    recheck.finish();
    if (recheck.next) void this.#enqueue(id, recheck.next);
  }

  close(): void {
    this.#isClosed = true;
    for (const [id, recheck] of this.#rechecks) this.#remove(id, recheck);
  }

  #enqueue(id: string, recheck: Recheck): Promise<void> {
    this.#rechecks.set(id, recheck);
    this.#wake();
    return recheck.finished;
  }

  #remove(id: string, recheck: Recheck): void {
    clearTimeout(recheck.retryTimer);
    this.#rechecks.delete(id);
    recheck.finish();
    recheck.next?.finish();
  }

  #retry(recheck: Recheck): void {
    clearTimeout(recheck.retryTimer);
    recheck.retryTimer = undefined;
    recheck.isWaiting = true;
    this.#wake();
  }
}
