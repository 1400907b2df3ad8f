import type { RecordedTerms } from '../../ledger/ledger.js';
import type { PreparedIntent } from '../../sequencer/intent-client.js';
import type { IntentRecord } from '../hooks.js';
import { departureOf } from '../request/client-disconnect.js';
import type { RouterContext } from '../router-context.js';
import type { AskedIntent } from './asked-intent.js';

/**
 * Has the sequencer accept an intent, and tells the site's hook of it. Can be called again for the same intent.
 * @throws {SequencerError} without an OK @throws what the hook throws
 */
export async function sendIntent(
  { hooks, webhook }: RouterContext,
  { req, res }: AskedIntent,
  prepared: PreparedIntent,
  terms: RecordedTerms | undefined,
): Promise<void> {
  // A create that was sent may have its effect, so it goes on; but nothing is sent for nobody.
  await prepared.create({ sendUntil: departureOf(res) });
  webhook?.register(prepared.id, req);
  await hooks.onCreated?.(recordOf(prepared.id, terms), req);
}

function recordOf(id: string, terms: RecordedTerms | undefined): IntentRecord {
  return terms ? { id, kind: 'payment', ...terms } : { id, kind: 'login' };
}
