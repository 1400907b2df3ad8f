import type { Database } from '../database/database.js';
import { LeaseLost, type Work } from './claimed-payment.js';

/** A claim that is kept alive. */
export interface Lease {
  /** Aborted with {@link LeaseLost} once the claim is, or may be, another's; and with what `abort` says. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Ends the heartbeat. What the claim leaves behind is for the last write of its work to say. */
  stop(): void;
}

/** Keeps a claim alive by a word to the database three times in each lease. */
export function holdLease(db: Database, { payment: { id }, leaseToken }: Work, leaseMs: number): Lease {
  const controller = new AbortController();
  let goodUntil = performance.now() + leaseMs;
  const beat = async (): Promise<void> => {
    const sentAt = performance.now();
    const { rowCount } = await db.query(
      `update express_intents.intents set leased_until = now() + $3::float8 * interval '1 millisecond'
       where id = $1 and lease_token = $2::bigint and leased_until is not null`,
      [id, leaseToken, leaseMs],
    );
    if (rowCount === 0) throw new LeaseLost(id);
    goodUntil = sentAt + leaseMs;
  };
  const timer = setInterval(() => {
    beat().catch((error) => {
      // A database that cannot be reached is no reason to stop at once: until its end the lease is good without a word. One
      // that is nobody else's may well be busy with the very hook that the lease is for.
      const isOver = db.isShared && performance.now() > goodUntil;
      if (error instanceof LeaseLost || isOver) controller.abort(new LeaseLost(id));
    });
  }, leaseMs / 3).unref();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    stop: () => clearInterval(timer),
  };
}
