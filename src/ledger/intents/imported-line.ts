import type * as zod from 'zod';
import { IntentError } from '../../errors.js';
import { lanes } from '../settlement/hook-lanes.js';
import { intentStates } from './intent-state.js';

/**
 * A line of an export as whoever reads the tables reckons with it. The database would take more: `NaN` for an amount,
 * `infinity` for a time. Columns that it does not name are left to the database.
 */
function schemaOf(z: typeof zod) {
  const hasCents = (amount: number): boolean => /^\d+(?:\.\d\d?)?$/.test(String(amount));
  const amount = z.number().positive().refine(hasCents, 'more than two decimals');
  const bytes = z.string().regex(/^\\x(?:[\da-f]{2})*$/);
  const time = z.iso.datetime({ offset: true });
  const state = z.enum(intentStates);
  const whole = z.int().nonnegative();
  const intent = z.looseObject({
    ...{ id: z.string().min(1), kind: z.enum(['payment', 'login']), state },
    ...{ amount: amount.nullish(), currency: z.string().nullish(), destination: z.string().nullish() },
    ...{ login: z.boolean(), resource: z.string().nullish(), metadata: z.record(z.string(), z.unknown()) },
    ...{ browser: bytes.nullish(), idempotency_key: z.string().nullish(), fingerprint: bytes.nullish() },
    ...{ sealed_secret: z.string().nullish(), user_id: z.string().nullish() },
    ...{ created_at: time, submitted_at: time.nullish(), settled_at: time.nullish(), reversed_at: time.nullish() },
    ...{ login_completed_at: time.nullish(), due_at: time.nullish(), watch_until: time.nullish() },
    ...{ doubted_at: time.nullish(), lease_token: whole, attempts: whole },
    ...{ timeouts: whole, lane: z.enum(lanes), scheduled_at: time },
    ...{ dead_hook: z.string().nullish(), last_error: z.string().nullish() },
  });
  const change = z.looseObject({ at: time, from_state: state, to_state: state, attempts: whole });
  return z.looseObject({ intent, history: z.array(change) });
}

/** @throws {IntentError} `invalid_request` that names the line and its field */
export type RequireSoundLine = (line: string, number: number) => void;

/** Made when something is imported: zod takes longer to load than all of ours. */
export async function soundLines(): Promise<RequireSoundLine> {
  const schema = schemaOf(await import('zod'));
  return (line, number) => {
    const [issue] = schema.safeParse(parse(line, number)).error?.issues ?? [];
    if (issue) throw unsound(number, `${issue.path.join('.')}: ${issue.message}`);
  };
}

function parse(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw unsound(number, `no JSON: ${line.slice(0, 60)}`);
  }
}

const unsound = (number: number, why: string): IntentError =>
  new IntentError(
    'invalid_request',
    `Line ${number} is not as \`ledger export\` writes it: ${why}. Nothing was imported. Export the ledger again.`,
  );
