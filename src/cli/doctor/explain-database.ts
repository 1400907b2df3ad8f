import { readError } from '../../emulator/read-error.js';
import { explainNetwork, type NetworkFault } from './explain-network.js';

type Explained = (message: string) => NetworkFault;

/** By SQLSTATE: why Postgres lets nobody in. */
const states: readonly (readonly [state: RegExp, explain: Explained])[] = [
  [
    /^28/,
    (message) => ({
      why: `it refuses the user or the password (${message})`,
      mend: 'Correct the user and the password in INTENT_DATABASE_URL; what is not a letter or a digit is %-encoded there.',
    }),
  ],
  [
    /^3D000$/,
    (message) => ({
      why: message,
      mend: 'Make it with `createdb`, or correct the name at the end of INTENT_DATABASE_URL.',
    }),
  ],
  [
    /^53300$/,
    (message) => ({
      why: message,
      mend: 'End what keeps connections open, raise max_connections, or put pgbouncer in between.',
    }),
  ],
  [
    /^42501$/,
    (message) => ({ why: message, mend: 'Let the role of INTENT_DATABASE_URL own the schema express_intents.' }),
  ],
  [/^57P0/, (message) => ({ why: message, mend: 'Wait until the server has started, and ask again.' })],
];

const startIt =
  'Start the database, correct the host and port in INTENT_DATABASE_URL, or open the firewall for this machine.';

/** Why the database cannot be used, and what mends it. Its own words name a user or a database, and never a password. */
export function explainDatabase(error: unknown): NetworkFault {
  for (let each: unknown = error; each !== undefined; each = readError(each).cause) {
    const { code, message: said } = readError(each);
    const message = String(said);
    const known = states.find(([state]) => state.test(String(code)));
    if (known) return known[1](message);
    if (/does not support SSL/.test(message)) {
      return {
        why: 'it speaks no TLS',
        mend: 'Take sslmode out of INTENT_DATABASE_URL, or give the server a certificate.',
      };
    }
    if (/^timeout exceeded/.test(message)) return { why: 'no connection comes about in time', mend: startIt };
  }
  return explainNetwork(error, 'its host', startIt);
}
