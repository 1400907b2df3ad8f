import type { Queryable } from '../database/database.js';
import type { TransitionName } from '../transitions.js';
import { writeTransition } from '../write-transition.js';

interface Retried {
  readonly state: string;
  readonly attempts: number;
  readonly hook: string | null;
}

function transitionFor({ state, hook }: Retried): TransitionName {
  if (state !== 'dead') return 'watchAgain';
  return hook === 'onReversed' ? 'retryReversed' : 'retryPaid';
}

/** Resumes a dead letter with the hook that failed; polls an expired or reversed intent again. */
export async function retryIntent(db: Queryable, id: string, watchMs: number): Promise<boolean> {
  const { rows } = await db.query<Retried>(
    `select state, attempts::float8 as attempts, hook from express_intents.payments p
     left join express_intents.failures f on f.intent_id = p.intent_id
     where p.intent_id = $1 and state in ('dead', 'expired', 'reversed')`,
    [id],
  );
  const [payment] = rows;
  if (!payment) return false;
  const { state, attempts } = payment;
  const values = { watch_ms: watchMs, attempts };
  const [nowMs] = await writeTransition(db, transitionFor(payment), [{ id, state, leaseToken: null, values }]);
  return nowMs !== undefined;
}
