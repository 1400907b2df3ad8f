import { explainDatabase as explainFault } from '../../ledger/explain-database.js';
import { explainNetwork, type NetworkFault } from './explain-network.js';

const startIt =
  'Start the database, correct the host and port in INTENT_DATABASE_URL, or open the firewall for this machine.';

/** Why the database cannot be used, and what mends it. Its own words name a user or a database, and never a password. */
export function explainDatabase(error: unknown): NetworkFault {
  const { why, mend } = explainFault(error) ?? {};
  const network = explainNetwork(error, 'its host', startIt);
  return { why: why ?? network.why, mend: mend ?? network.mend };
}
