/**
 * Decides which hooks run at the same time, so that a hook that fails, hangs or ends the process delays no other payment.
 *
 * Each payment is in one lane. The lane is a column of its row, so it survives the process and holds for all processes:
 *
 *     first  -- the hook fails ------------------------------------> retry
 *     first, retry  -- the hook has timed out twice ---------------> slow
 *     first, retry, slow  -- the process ends during the hook -----> alone
 *     alone  -- the process ends during the hook ------------------> alone, and an attempt is counted
 *     alone  -- the hook fails or times out, the process lives on -> retry or slow
 *     any    -- the hook succeeds ---------------------------------> first
 *
 * - `first` may use all slots of the process. Only first calls use more than half of them.
 * - `retry` may use half of the slots.
 * - `slow` has one slot of its own.
 * - `alone` is the quarantine. Its hook starts when no other hook runs in this process, and no other starts meanwhile.
 *
 * While a hook runs, `hook_run` of its row is `together` or `alone`; every write that ends the claim clears it. A claimed row
 * that still has it was interrupted: its process ended, or lost the database for longer than the lease. `together` does not
 * tell which hook was the cause: no attempt is counted, and each payment is called again in quarantine. `alone` tells that
 * it was this hook: an attempt is counted, and the next call follows after a pause.
 *
 * `verifyPayment` is code of the site as well: it follows these rules and uses no slot.
 */
export type Lane = (typeof lanes)[number];

/** By priority. */
export const lanes = ['first', 'retry', 'slow', 'alone'] as const;

/** After so many timeouts the lane is `slow`. */
const timeoutsUntilSlow = 2;

/** @param timeouts how often the hooks of this payment have timed out */
export function laneAfterFailure(timeouts: number): Lane {
  return timeouts >= timeoutsUntilSlow ? 'slow' : 'retry';
}

type Kind = Lane | 'verify';

interface Waiting {
  readonly kind: Kind;
  readonly sinceMs: number;
  readonly enter: () => void;
}

/** The hooks that run in one process. See the top of the file for the rules. */
export class HookLanes {
  readonly #slots: number;
  readonly #running: Record<Kind, number> = { first: 0, retry: 0, slow: 0, alone: 0, verify: 0 };
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();

  /** @param slots how many hooks of `first` and `retry` run at once */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** How many hooks of this lane run. */
  running(lane: Lane): number {
    return this.#running[lane];
  }

  /** The longest wait of a first call for its slot, in milliseconds. */
  get firstCallWaitMs(): number {
    for (const { kind, sinceMs } of this.#waiting) if (kind === 'first') return performance.now() - sinceMs;
    return 0;
  }

  /** @throws the signal's reason when it is aborted before a slot is free; `work` has not started then */
  async run<Value>(kind: Kind, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    if (this.#mayEnter(kind)) this.#running[kind] += 1;
    else await this.#turn(kind, signal);
    try {
      return await work();
    } finally {
      this.#running[kind] -= 1;
      this.#admitNext();
    }
  }

  #mayEnter(kind: Kind): boolean {
    const { first, retry, slow, alone, verify } = this.#running;
    if (alone > 0) return false;
    if (kind === 'alone') return first + retry + slow + verify === 0;
    const aloneWaits = [...this.#waiting].some((waiting) => waiting.kind === 'alone');
    // The quarantine waits for a slow hook, which may run for long. First calls continue in the meantime.
    if (kind === 'verify') return !aloneWaits || slow > 0;
    if (kind === 'first') return first + retry < this.#slots && (!aloneWaits || slow > 0);
    if (kind === 'slow') return slow === 0 && !aloneWaits;
    return first + retry < this.#slots && retry < Math.max(1, Math.floor(this.#slots / 2)) && !aloneWaits;
  }

  #admitNext(): void {
    for (const { kind, enter } of this.#waiting) if (this.#mayEnter(kind)) enter();
  }

  #turn(kind: Kind, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', giveUp);
      };
      const enter = (): void => {
        leaveLine();
        this.#running[kind] += 1;
        resolve();
      };
      const giveUp = (): void => {
        leaveLine();
        // Others may have waited behind a payment in quarantine.
        this.#admitNext();
        reject(signal.reason);
      };
      const waiting: Waiting = { kind, sinceMs: performance.now(), enter };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
