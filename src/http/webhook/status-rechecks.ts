import { withAbort } from '../../async/timeout.js';
import { IntentError, SequencerError } from '../../errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { IntentStatus } from '../../sequencer/calls.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';

export interface StatusRechecksOptions {
  readonly statusCache: StatusCache;
  readonly ledger?: Pick<Ledger, 'find' | 'recheck'> | undefined;
  readonly concurrency?: number | undefined;
  readonly capacity?: number | undefined;
}

/** How long the answer waits for a recheck of the ledger, which ends after the hook of the payment. In milliseconds. */
const recordWaitMs = 2_000;
const retryAfterMs = 5_000;

interface Recheck {
  readonly finished: Promise<void>;
  /** Resolves when the status is read. */
  readonly run: () => Promise<void>;
}

/**
 * Reads the status of intents after webhook calls, with limited concurrency. For a payment in the ledger, then waits
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
      run = async () => {
        try {
          const status = await this.#options.statusCache.get(id, { bypassCache: true, source: 'webhook' });
          this.#record(id, status).then(resolve, reject);
        } catch (error) {
          reject(error);
        }
      };
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

  /** Not limited: a recheck also waits for the hook of its payment, which may take long. */
  async #record(id: string, { intentSubmitted }: IntentStatus): Promise<void> {
    const { ledger } = this.#options;
    if (!ledger) return;
    if (intentSubmitted) {
      await withAbort(AbortSignal.timeout(recordWaitMs), () => ledger.recheck(id)).catch(() => undefined);
    }
    if (!(await isUnrecorded(ledger, id, intentSubmitted))) return;
    if (intentSubmitted) {
      const message = `The ledger has not recorded yet that ${id} is submitted. The sequencer repeats the call.`;
      throw new IntentError('ledger_unavailable', message, { retryAfterMs });
    }
    // The status may come from a replica of the service that lags behind the one that called.
    const message = `The sequencer called the webhook of ${id}, but does not report it as submitted. It repeats the call.`;
    throw new SequencerError('sequencer_bad_response', message, { retryAfterMs });
  }
}

/**
 * Whether the ledger has this payment and has not recorded its submission. A reversed payment counts as recorded,
 * unless it is submitted again. An unconfirmed one can be submitted only if the database has lost its confirmation.
 */
async function isUnrecorded(ledger: Pick<Ledger, 'find'>, id: string, intentSubmitted: boolean): Promise<boolean> {
  const { kind, state } = (await ledger.find(id)) ?? {};
  const isOpen = state === 'created' || state === 'expired';
  return kind === 'payment' && (isOpen || (intentSubmitted && (state === 'reversed' || state === 'creating')));
}
