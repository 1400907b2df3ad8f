import { Batcher } from '../../async/batcher.js';
import { batchOptions } from '../database/batch-options.js';
import type { Queryable } from '../database/database.js';
import { DatabaseOutage } from '../database/database-fault.js';
import type { TransitionName } from '../transitions.js';
import { type TransitionValues, type TransitionWrite, writeTransition } from '../write-transition.js';
import { type ClaimedPayment, LeaseLost } from './claimed-payment.js';

const writeOf = (
  { payment, state, leaseToken, ...claimed }: ClaimedPayment,
  values: TransitionValues,
): TransitionWrite => ({
  id: payment.id,
  state,
  leaseToken,
  values: { attempts: claimed.attempts, timeouts: claimed.timeouts, lane: claimed.lane, ...values },
});

/**
 * Writes to a claimed payment in a transaction. Its outcome is that of the transaction: see `hasChanged`.
 * @throws {LeaseLost} if the claim is no longer valid
 */
export async function updateClaimed(
  db: Queryable,
  claimed: ClaimedPayment,
  name: TransitionName,
  values: TransitionValues = {},
): Promise<number> {
  const [nowMs] = await writeTransition(db, name, [writeOf(claimed, values)]);
  if (nowMs === undefined) throw new LeaseLost(claimed.payment.id);
  return nowMs;
}

/**
 * Whether the work on a claim has changed the state of its payment. Waits for a transaction that changes it. `at_ms`: when it was
 * submitted. Undefined if another process has claimed the payment since.
 */
async function readChange(
  db: Queryable,
  { payment: { id }, leaseToken, state }: ClaimedPayment,
): Promise<{ readonly changed: boolean; readonly at_ms: number } | undefined> {
  const { rows } = await db.query<{ readonly changed: boolean; readonly at_ms: number }>(
    `select state <> $3 as changed, extract(epoch from coalesce(submitted_at, now()))::float8 * 1000 as at_ms
     from express_intents.payments where intent_id = $1 and lease_token = $2::bigint for update`,
    [id, leaseToken, state],
  );
  return rows[0];
}

export const hasChanged = async (db: Queryable, claimed: ClaimedPayment): Promise<boolean | undefined> =>
  (await readChange(db, claimed))?.changed;

/**
 * Writes to claimed payments outside of transactions. The same writes of payments that are processed at the same time share a
 * statement.
 */
export class ClaimWrites {
  readonly #db: Queryable;
  readonly #batchers = new Map<TransitionName, Batcher<TransitionWrite, number | undefined>>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  /**
   * Writes if the claim is still valid. If the response is lost, reads whether the state was written.
   * @returns `now()` of the write, in milliseconds
   * @throws {LeaseLost}
   */
  async write(claimed: ClaimedPayment, name: TransitionName, values: TransitionValues = {}): Promise<number> {
    try {
      const nowMs = await this.#batcherOf(name).add(writeOf(claimed, values));
      if (nowMs === undefined) throw new LeaseLost(claimed.payment.id);
      return nowMs;
    } catch (error) {
      const isOutage = error instanceof DatabaseOutage;
      const change = isOutage ? await readChange(this.#db, claimed).catch(() => undefined) : undefined;
      if (!change?.changed) throw error;
      return change.at_ms;
    }
  }

  #batcherOf(name: TransitionName): Batcher<TransitionWrite, number | undefined> {
    const batcher =
      this.#batchers.get(name) ??
      new Batcher({
        ...batchOptions,
        run: (writes: readonly TransitionWrite[]) => writeTransition(this.#db, name, writes),
      });
    this.#batchers.set(name, batcher);
    return batcher;
  }
}
