import { withAbort } from '../../async/timeout.js';
import { IntentError, SequencerError } from '../../errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';

export interface StatusRechecksOptions {
  readonly statusCache: StatusCache;
  readonly ledger?: Pick<Ledger, 'find' | 'recheck'> | undefined;
  readonly concurrency?: number | undefined;
  readonly capacity?: number | undefined;
}

/** How long a recheck of the ledger may take, in milliseconds. A hook that takes longer does not delay the answer. */
const recordWaitMs = 2_000;
const retryAfterMs = 5_000;

interface Recheck {
  readonly finished: Promise<void>;
  readonly run: () => Promise<void>;
}

/**
 * Reads the status of intents after webhook calls, with limited concurrency. For a payment in the ledger, waits
 * until the submission is recorded.
 *
 * - waiting: added and queued once.
 * - running: its status is being read. If added now, it is queued again, because the response may be older than the call.
 */
export class StatusRechecks {
  readonly #options: StatusRechecksOptions;
  readonly #concurrency: number;
  readonly #capacity: number;
  readonly #waiting = new Map<string, Recheck>();
  readonly #running = new Set<string>();

  constructor(options: StatusRechecksOptions) {
    this.#options = options;
    this.#concurrency = options.concurrency ?? 4;
    this.#capacity = options.capacity ?? 1_000;
  }

  /**
   * Resolves when the status is read and, for a payment of the ledger, its submission is recorded.
   * @throws {IntentError} `too_busy`, `ledger_unavailable`
   * @throws {SequencerError} also `sequencer_bad_response` if the payment is not submitted
   */
  async add(id: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting) return waiting.finished;
    if (this.#waiting.size >= this.#capacity) {
      throw new IntentError('too_busy', `${this.#capacity} webhook calls are already waiting.`, { retryAfterMs });
    }
    const recheck = this.#createRecheck(id);
    this.#waiting.set(id, recheck);
    this.#runNext();
    return recheck.finished;
  }

  #createRecheck(id: string): Recheck {
    let run = async (): Promise<void> => undefined;
    const finished = new Promise<void>((resolve, reject) => {
      run = () => this.#recheck(id).then(resolve, reject);
    });
    return { finished, run };
  }

  #runNext(): void {
    for (const [id, { run }] of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return;
      if (this.#running.has(id)) continue;
      this.#waiting.delete(id);
      this.#running.add(id);
      void run().finally(() => {
        this.#running.delete(id);
        this.#runNext();
      });
    }
  }

  async #recheck(id: string): Promise<void> {
    const { statusCache, ledger } = this.#options;
    const { intentSubmitted } = await statusCache.get(id, { bypassCache: true, source: 'webhook' });
    if (!ledger) return;
    if (intentSubmitted) {
      await withAbort(AbortSignal.timeout(recordWaitMs), () => ledger.recheck(id)).catch(() => undefined);
    }
    if (!(await isUnrecorded(ledger, id, intentSubmitted))) return;
    if (intentSubmitted) {
      const message = `The ledger has not recorded yet that ${id} is submitted. The payment service repeats the call.`;
      throw new IntentError('ledger_unavailable', message, { retryAfterMs });
    }
    // The status may come from a replica of the service that lags behind the one that called.
    const message = `The payment service called the webhook of ${id}, but does not report it as submitted. It repeats the call.`;
    throw new SequencerError('sequencer_bad_response', message, { retryAfterMs });
  }
}

/**
 * Whether the ledger has this payment and has not recorded its submission. A reversed payment counts as recorded,
 * unless it is submitted again.
 */
async function isUnrecorded(ledger: Pick<Ledger, 'find'>, id: string, intentSubmitted: boolean): Promise<boolean> {
  const { kind, state } = (await ledger.find(id)) ?? {};
  return (
    kind === 'payment' && (state === 'created' || state === 'expired' || (state === 'reversed' && intentSubmitted))
  );
}
