import { IntentError } from '../errors.js';
import { sqlStateOf } from './database-fault.js';

/** What may be mended, with what mends it; anything else as it is. */
export function explainMigrationFault(error: unknown): unknown {
  const { message } = error as Error;
  switch (sqlStateOf(error)) {
    case '42501':
      return new IntentError(
        'invalid_configuration',
        `The role of INTENT_DATABASE_URL may not do this: ${message}. ${grants}`,
        { cause: error },
      );
    case '55P03':
      return new IntentError('ledger_unavailable', inUse, { cause: error });
    default:
      return error;
  }
}

const grants = `\
Let an administrator run \`create schema express_intents authorization <role>\`, so that the tables are the role's own. Or \
run \`npx express-intents migrate\` as another role, and then as that one \`grant usage on schema express_intents to <role>\` \
and \`grant select, insert, update, delete on all tables in schema express_intents to <role>\`.`;

const inUse = `\
The tables of the ledger cannot be changed, since a transaction that does not end has them in use. \
\`select pid, xact_start, query from pg_stat_activity where xact_start < now() - interval '1 second' order by xact_start\` \
shows which; \`select pg_terminate_backend(<pid>)\` ends it.`;
