import type { Database } from '../../../src/ledger/database/database.js';
import type { IntentState, RecordedTerms } from '../../../src/ledger/ledger.js';

/** The events and responses that the sequencer recorded. Times are milliseconds since 1970. */
export type SequencerEvent =
  | { readonly what: 'created'; readonly id: string; readonly at: number; readonly terms: RecordedTerms }
  /** The site has returned the client secret to the browser: from now on the intent can be paid. */
  | { readonly what: 'secret returned'; readonly id: string; readonly at: number }
  | { readonly what: 'paid'; readonly id: string; readonly at: number }
  | { readonly what: 'reversed'; readonly id: string; readonly at: number }
  | { readonly what: 'answered'; readonly id: string; readonly at: number; readonly answer: Answer };

/** A response to a status call; `nothing` is an error or no response. */
export type Answer = 'submitted' | 'not submitted' | 'unknown' | 'nothing';

/** A row of the ledger. */
export interface IntentEvidence extends RecordedTerms {
  readonly id: string;
  readonly kind: 'payment' | 'login';
  readonly state: IntentState;
  readonly isDue: boolean;
  readonly submittedAt: number | undefined;
  readonly settledAt: number | undefined;
  readonly reversedAt: number | undefined;
  readonly loginCompletedAt: number | undefined;
}

/** One state change, in the order of writes. */
export interface StepEvidence {
  readonly id: string;
  readonly at: number;
  readonly from: IntentState;
  readonly to: IntentState;
}

/** A row that a hook wrote through its transaction, in a table without unique constraints. */
export interface EffectEvidence {
  readonly id: string;
  readonly by: 'onPaid' | 'onReversed' | 'login';
  /** The name of the process. */
  readonly worker: string;
  /** The payment as the hook received it; undefined for a login. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The evidence at the end of a run. */
export interface Evidence {
  /** The start of the read of the database, in milliseconds since 1970: later events may be missing. Default: after the run. */
  readonly readAt?: number | undefined;
  readonly sequencer: readonly SequencerEvent[];
  readonly intents: readonly IntentEvidence[];
  readonly steps: readonly StepEvidence[];
  readonly effects: readonly EffectEvidence[];
}

/** Has no unique constraint, so a doubled effect is visible. */
export const effectsTable = `create table if not exists public.effects
  (intent_id text, by text, amount text, currency text, metadata text, worker text)`;

/** Inserts an effect. All columns are text. */
export const insertEffect = 'insert into public.effects values ($1, $2, $3, $4, $5, $6)';

const ms = (column: string): string => `extract(epoch from ${column})::float8 * 1000`;

/** Reads a consistent snapshot of the database, with its own SQL and not that of the ledger. */
export function readEvidence(db: Database): Promise<Omit<Evidence, 'sequencer'>> {
  const readAt = Date.now();
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read');
    const intents = await tx.query<IntentEvidence & { metadata: string }>(
      `select i.id, i.kind, i.amount::text as amount, i.currency, i.destination, i.description, i.login, i.resource,
       i.metadata::text as metadata, coalesce(p.state, l.state) as state,
       p.due_at is not null as "isDue", ${ms('p.submitted_at')} as "submittedAt", ${ms('p.settled_at')} as "settledAt",
       ${ms('p.reversed_at')} as "reversedAt", ${ms('l.completed_at')} as "loginCompletedAt"
     from express_intents.intents i left join express_intents.payments p on p.intent_id = i.id
     left join express_intents.logins l on l.intent_id = i.id order by i.created_at, i.id`,
    );
    const steps = await tx.query<StepEvidence>(
      `select intent_id as id, ${ms('at')} as at, from_state as "from", to_state as "to"
     from express_intents.history order by number`,
    );
    const effects = await tx.query<EffectEvidence & { metadata: string }>(
      'select intent_id as id, by, amount, currency, metadata, worker from public.effects order by intent_id, by',
    );
    const read = <Row extends { metadata: string }>(row: Row) => ({
      ...(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row),
      metadata: JSON.parse(row.metadata),
    });
    return { readAt, intents: intents.rows.map(read), steps: steps.rows, effects: effects.rows.map(read) };
  });
}
