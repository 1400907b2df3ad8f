/**
 * Decides which hooks run concurrently. A hook that fails, hangs or ends the process must not delay other payments.
 * The lanes are not semaphores: which call may start depends on the kinds of the calls that run and wait.
 *
 * Each payment is in one lane. The lane is a column of its row, so it survives the process and applies to all
 * processes:
 *
 *     first               -- the hook fails ---------------------------> retry
 *     first, retry        -- the hook has timed out twice -------------> slow
 *     first, retry, slow  -- the hook is interrupted ------------------> quarantine
 *     quarantine          -- the hook is interrupted ------------------> quarantine, and an attempt is counted
 *     quarantine          -- the hook fails or times out --------------> retry or slow
 *     any                 -- the hook succeeds ------------------------> first
 *
 * - `first` may use all slots of the process.
 * - `retry` may use half of the slots.
 * - `slow` has one slot of its own.
 * - A hook in `quarantine` runs while no other hook runs in this process.
 *
 * While a hook runs, `running_hook` of its row is its name. The process clears it when it ends its claim, unless it
 * could not record the outcome of the call. If it is still set at the next claim, the hook was interrupted: the process
 * ended, or lost its database connection. Another hook may be the cause, so no attempt is counted, and the next call
 * runs in quarantine. If that call is interrupted too, this hook is the cause: an attempt is counted, and the next call
 * follows after a backoff.
 *
 * If the process can record that the database failed during a hook, the hook has failed. In `first` no attempt is counted.
 *
 * `verifyPayment` is code of the site, too. The same rules apply, except that it uses no slot, and that its failure leads
 * to `first` instead of `retry`.
 */
export type Lane = (typeof lanes)[number];

/** In the order of priority. */
export const lanes = ['first', 'retry', 'slow', 'quarantine'] as const;

const timeoutsUntilSlow = 2;

/** @param timeouts how many times the hooks of this payment have timed out */
export function laneAfterFailure(timeouts: number): Lane {
  return timeouts >= timeoutsUntilSlow ? 'slow' : 'retry';
}

type Kind = Lane | 'verify';

interface Waiting {
  readonly kind: Kind;
  readonly sinceMs: number;
  readonly enter: () => void;
}

export class HookLanes {
  readonly #slots: number;
  readonly #running: Record<Kind, number> = { first: 0, retry: 0, slow: 0, quarantine: 0, verify: 0 };
  readonly #waiting = new Set<Waiting>();

  /** @param slots how many hooks of `first` and `retry` run at once */
  constructor(slots: number) {
    this.#slots = slots;
  }

  running(lane: Lane): number {
    return this.#running[lane];
  }

  get firstCallWaitMs(): number {
    for (const { kind, sinceMs } of this.#waiting) if (kind === 'first') return performance.now() - sinceMs;
    return 0;
  }

  /** @throws the signal's reason if it is aborted before `work` starts @throws what `work` throws */
  async run<Value>(kind: Kind, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    if (this.isFree(kind)) this.#running[kind] += 1;
    else await this.#waitForTurn(kind, signal);
    try {
      return await work();
    } finally {
      this.#running[kind] -= 1;
      this.#admitNext();
    }
  }

  /** Whether `run` would start its work immediately. */
  isFree(kind: Kind): boolean {
    const { first, retry, slow, quarantine, verify } = this.#running;
    if (quarantine > 0) return false;
    if (kind === 'quarantine') return first + retry + slow + verify === 0;
    const quarantineWaits = [...this.#waiting].some((waiting) => waiting.kind === 'quarantine');
    // A quarantined hook may wait long for a slow hook to end. First calls continue until then.
    if (kind === 'verify') return !quarantineWaits || slow > 0;
    if (kind === 'first') return first + retry < this.#slots && (!quarantineWaits || slow > 0);
    if (kind === 'slow') return slow === 0 && !quarantineWaits;
    return first + retry < this.#slots && retry < Math.max(1, Math.floor(this.#slots / 2)) && !quarantineWaits;
  }

  #admitNext(): void {
    for (const { kind, enter } of this.#waiting) if (this.isFree(kind)) enter();
  }

  #waitForTurn(kind: Kind, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', giveUp);
      };
      const enter = (): void => {
        leaveQueue();
        this.#running[kind] += 1;
        resolve();
      };
      const giveUp = (): void => {
        leaveQueue();
        // Others may have waited behind a quarantined payment.
        this.#admitNext();
        reject(signal.reason);
      };
      const waiting: Waiting = { kind, sinceMs: performance.now(), enter };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
