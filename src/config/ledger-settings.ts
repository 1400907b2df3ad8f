import { maxTimerMs } from '../async/timeout.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import type { ConfigOptions, Environment } from './config.js';
import { readDuration } from './duration.js';
import type { Report } from './report.js';

const dayMs = 24 * 3_600_000;

/** Of the 64 questions for a status that a process may have under way, a quarter is left to its visitors. */
const mostLooksAtOnce = 48;

/** How to get a ledger, for whoever needs one and has none; in production none that is refused next. */
export function ledgerMend({ NODE_ENV }: Environment): string {
  if (NODE_ENV === 'production')
    return 'INTENT_DATABASE_URL=postgres://user:password@host:5432/database (npm install pg)';
  return (
    'INTENT_DATABASE_URL=./ledger for one process (npm install @electric-sql/pglite), or ' +
    'INTENT_DATABASE_URL=postgres://... for any number (npm install pg)'
  );
}

/** Where the ledger is kept, and how payments are settled; undefined where no database is named. */
export function readLedger(
  options: ConfigOptions,
  env: Environment,
  production: boolean,
  report: Report,
): LedgerSettings | undefined {
  const settings = readSettlement(options, report);
  const url = options.databaseUrl ?? env.INTENT_DATABASE_URL ?? '';
  const database = url === '' ? undefined : readDatabase(url, env, report);
  if (database?.kind === 'embedded' && production && options.allowEmbeddedLedger !== true) {
    report.problem(
      'INTENT_DATABASE_URL',
      'It is a folder, and NODE_ENV is production. Such a ledger survives the death of the process and not a loss of power.',
      'INTENT_DATABASE_URL=postgres://..., or intentRouter({ allowEmbeddedLedger: true }) where that will do',
    );
  }
  return database && Object.freeze({ database, migrate: options.migrate ?? true, ...settings });
}

function readSettlement(options: ConfigOptions, report: Report): Omit<LedgerSettings, 'database' | 'migrate'> {
  const { settleDelayMs, reversalWatchMs } = options;
  return {
    settleDelayMs: settleDelayMs ? readDuration('settleDelayMs', settleDelayMs, 60_000, report) : 0,
    watchMs: readDuration('watchMs', options.watchMs, 30 * dayMs, report),
    reversalWatchMs: reversalWatchMs === 0 ? 0 : readDuration('reversalWatchMs', reversalWatchMs, dayMs, report),
    looksAtOnce: readCount('looksAtOnce', options.looksAtOnce, { usual: 24, most: mostLooksAtOnce }, report),
    hookAttempts: readCount('hookAttempts', options.hookAttempts, { usual: 15, most: 1_000 }, report),
    hookTimeoutMs: readDuration('hookTimeoutMs', options.hookTimeoutMs, 30_000, report, maxTimerMs),
    lateAfterMs: readDuration('lateAfterMs', options.lateAfterMs, 15 * 60_000, report),
  };
}

function readCount(
  name: 'looksAtOnce' | 'hookAttempts',
  count: number | undefined,
  { usual, most }: { readonly usual: number; readonly most: number },
  report: Report,
): number {
  const value = count ?? usual;
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  report.problem(name, `It is not a whole number from 1 to ${most}.`, `${name}: ${usual}`);
  return usual;
}

/**
 * Any text that names no other scheme is the path of a folder, but for what looks like a URL all the same, such as one in
 * quotes. The URL is never told: it may hold a password.
 */
function readDatabase(url: string, env: Environment, report: Report): LedgerSettings['database'] | undefined {
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    // A socket is named in the query, and then a user may come before no host at all.
    if (URL.canParse(url.replace('@/', '@localhost/'))) return Object.freeze({ kind: 'postgres', url });
    return report.problem(
      'INTENT_DATABASE_URL',
      'It cannot be read as a URL.',
      'INTENT_DATABASE_URL=postgres://user:password@host:5432/database',
    );
  }
  if (/^[a-z][a-z+.-]+:|:\/\//i.test(url)) {
    return report.problem(
      'INTENT_DATABASE_URL',
      'It is neither a URL that begins with postgres:// nor the path of a folder.',
      ledgerMend(env),
    );
  }
  return Object.freeze({ kind: 'embedded', folder: url });
}
