import { maxTimerMs } from '../async/timeout.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import type { ConfigSource } from './config-options.js';
import type { Report } from './report.js';
import type { Environment } from './variables.js';

const dayMs = 24 * 3_600_000;

/** The ledger stores the end of these times. `ledger import` accepts only times before the year 10000. */
const maxStoredMs = 36_500 * dayMs;

/**
 * A payment is `late` if its submission is detected more than this time after its creation. By default the button stops showing
 * its code at the same time.
 */
const lateAfterMs = 15 * 60_000;

/**
 * Concurrent polls of a process: about 400 polls a second with a sequencer that answers in 50 ms. A process runs at most 64 status
 * calls at once, so most of them stay free for visitors.
 */
const settlementConcurrency = 24;

/** The fix for a missing ledger. In production it names only Postgres. */
export function ledgerFixFor({ NODE_ENV }: Environment): string {
  if (NODE_ENV === 'production')
    return 'INTENT_DATABASE_URL=postgres://user:password@host:5432/database (npm install pg)';
  return (
    'INTENT_DATABASE_URL=./ledger for one process (npm install @electric-sql/pglite), or ' +
    'INTENT_DATABASE_URL=postgres://... for any number of processes (npm install pg)'
  );
}

export function readLedger({ options, env, production, report }: ConfigSource): LedgerSettings | undefined {
  if (options.ledger === false) return undefined;
  const { ledger = {} } = options;
  const { watch = {}, hookLimits = {} } = ledger;
  report.unknownNames('ledger.watch', watch, ['unpaidMs', 'settledMs']);
  report.unknownNames('ledger.hookLimits', hookLimits, ['maxAttempts', 'timeoutMs']);
  const settlement = {
    settleDelayMs: report.duration('ledger.settleDelayMs', ledger.settleDelayMs, 0, { min: 0, max: maxStoredMs }),
    watchMs: report.duration('ledger.watch.unpaidMs', watch.unpaidMs, 30 * dayMs, { max: maxStoredMs }),
    reversalWatchMs: report.duration('ledger.watch.settledMs', watch.settledMs, dayMs, { min: 0 }),
    settlementConcurrency,
    hookAttempts: report.count('ledger.hookLimits.maxAttempts', hookLimits.maxAttempts, 15, 1_000),
    hookTimeoutMs: report.duration('ledger.hookLimits.timeoutMs', hookLimits.timeoutMs, 30_000, { max: maxTimerMs }),
    lateAfterMs,
  };
  const url = ledger.url ?? env.INTENT_DATABASE_URL ?? '';
  const database = url === '' ? undefined : readDatabase(url, env, report);
  if (database?.kind === 'embedded' && production && ledger.allowFolderInProduction !== true) {
    report.problem(
      'INTENT_DATABASE_URL',
      'It is a folder, and NODE_ENV=production. A ledger in a folder survives a crash of the process, but not a power failure.',
      'INTENT_DATABASE_URL=postgres://..., or accept that risk with intentRouter({ ledger: { allowFolderInProduction: true } })',
    );
  }
  return database && Object.freeze({ database, migrate: ledger.migrate ?? true, ...settlement });
}

/**
 * Whether the password contains an unencoded / # or ?. The URL parser then takes the part before it for the host and port, which
 * error messages show.
 */
const hasUnencodedPassword = ({ pathname, search, hash }: URL): boolean =>
  /@/.test(pathname + hash + search.replace(freeTextParameters, ''));

/** Query parameters whose value may contain an @, which is then not the end of a password. */
const freeTextParameters = /[?&](?:user|password|host|options|application_name|sslrootcert|sslcert|sslkey)=[^&]*/g;

/** If the query names a socket, a user may precede an empty host, which `URL` refuses. */
export const withDatabaseHost = (url: string): string => url.replace('@/', '@localhost/');

/** A text without a scheme is the path of a folder. The URL is never reported, because it may contain a password. */
function readDatabase(url: string, env: Environment, report: Report): LedgerSettings['database'] | undefined {
  // Quotes would be part of the name of the database, or of a folder, which may then be outside the volume of a container.
  if (/^[\s"']|[\s"']$/.test(url)) {
    const problem = 'It has quotes or spaces around the value.';
    return report.problem('INTENT_DATABASE_URL', problem, 'Remove the quotes and spaces.');
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const text = withDatabaseHost(url);
    if (URL.canParse(text) && !hasUnencodedPassword(new URL(text))) return Object.freeze({ kind: 'postgres', url });
    return report.problem(
      'INTENT_DATABASE_URL',
      'It is not a valid URL.',
      'INTENT_DATABASE_URL=postgres://user:password@host:5432/database (percent-encode a / # or ? in the password: %2F, %23, %3F)',
    );
  }
  // A scheme, `:memory:` or a host with a port. A drive of Windows is part of a path.
  if (/^(?![a-z]:[\\/])[^\\/]*:/i.test(url)) {
    return report.problem(
      'INTENT_DATABASE_URL',
      'It is neither a URL that begins with postgres:// nor the path of a folder.',
      ledgerFixFor(env),
    );
  }
  return Object.freeze({ kind: 'embedded', folder: url });
}
