import type { Migration } from '../../../src/ledger/migrations/migrate.js';

// The statements that a migration may contain. With them the previous version keeps working during and after the migration,
// and no statement is blocked, however large the tables are. CONTRIBUTING.md explains the rules.

/** The allowed forms of a statement, in a migration that creates the tables `made`. */
const allowed: readonly ((statement: string, made: readonly string[]) => boolean)[] = [
  (statement) => /^create table express_intents\.\w+ \(/.test(statement),
  (statement) => /^create (or replace )?function express_intents\./.test(statement),
  (statement) => /^comment on /.test(statement),
  // Storage parameters affect only later writes.
  (statement) => /^alter table express_intents\.\w+ set \([^)]*\)$/.test(statement),
  (statement) => /^alter table express_intents\.\w+ add column /.test(statement) && isQuickColumn(statement),
  (statement, made) => made.includes(/^create (?:unique )?index \w+ on (\S+)/.exec(statement)?.[1] ?? ''),
  (statement, made) => made.includes(/^create trigger \w+ .*? on (\S+)/.exec(statement)?.[1] ?? ''),
];

/** Whether the column is nullable or has a constant default, which Postgres stores once for all rows. */
function isQuickColumn(statement: string): boolean {
  const needsDefault = /\bnot null\b/.test(statement);
  const hasDefault = /\bdefault ('[^']*'|\d+|true|false|null)( |$)/.test(statement);
  const isMore = /\b(references|unique|primary key|check|generated|collate)\b|\(\s*\)|,/.test(statement);
  return !isMore && (hasDefault || (!needsDefault && !/\bdefault\b/.test(statement)));
}

const reasons: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /\brename\b/,
    'an older version that still runs knows it by its old name: add the new one, and drop the old one a version later',
  ],
  [
    /^(drop|truncate)\b|\bdrop\b/,
    'an older version that still runs needs it: drop it one version after the last that uses it',
  ],
  [/\btype\b/, 'the table is rewritten under an exclusive lock: add another column'],
  [
    /\badd column\b/,
    'a new column must be nullable or have a constant default: anything else reads or writes the whole table',
  ],
  [
    /\bset not null\b|\badd (constraint|check|unique|primary|foreign)\b/,
    'it reads the whole table under a lock, and rejects writes of an older version',
  ],
  [
    /^create (unique )?index\b/,
    'on a table with rows it blocks all writers: use `concurrently`, outside of a transaction',
  ],
  [
    /^create (or replace )?trigger\b/,
    'it changes the writes of an older version: change the function of the trigger, and only add to it',
  ],
  [
    /^(update|delete|insert|merge)\b/,
    'it writes the whole table in one transaction: write new rows as they come, or old ones in small batches',
  ],
];

/** The first rule that the migration violates, or undefined. */
export function violationOf({ sql }: Migration): string | undefined {
  const statements = statementsOf(sql);
  const made = statements.flatMap((statement) => /^create table (\S+)/.exec(statement)?.[1] ?? []);
  for (const statement of statements) {
    if (allowed.some((isAllowed) => isAllowed(statement, made))) continue;
    const why = reasons.find(([pattern]) => pattern.test(statement))?.[1] ?? 'it is not allowed in a migration';
    return `\`${statement.slice(0, 80)}\`: ${why}.`;
  }
  return undefined;
}

/** The statements in lower case, each on one line, without comments; a body in `$$` is part of its statement. */
function statementsOf(sql: string): string[] {
  const plain = sql.replaceAll(/--[^\n]*|\/\*.*?\*\//gs, ' ');
  return (plain.match(/(?:\$(\w*)\$.*?\$\1\$|'[^']*'|[^;$'])+/gs) ?? [])
    .map((statement) => statement.trim().replaceAll(/\s+/g, ' ').toLowerCase())
    .filter((statement) => statement !== '');
}
