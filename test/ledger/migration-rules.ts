import type { Migration } from '../../src/ledger/migrations/migrate.js';

// What a migration may do, so that the version before it goes on working beside it and nobody is held up while it runs,
// however much there is in the tables. CONTRIBUTING.md has the rules in words.

/** A statement may be of one of these forms, in a migration whose own tables are `made`. */
const allowed: readonly ((statement: string, made: readonly string[]) => boolean)[] = [
  (statement) => /^create table express_intents\.\w+ \(/.test(statement),
  (statement) => /^create (or replace )?function express_intents\./.test(statement),
  (statement) => /^comment on /.test(statement),
  // Storage parameters count for what is written from then on.
  (statement) => /^alter table express_intents\.\w+ set \([^)]*\)$/.test(statement),
  (statement) => /^alter table express_intents\.\w+ add column /.test(statement) && isQuickColumn(statement),
  (statement, made) => made.includes(/^create (?:unique )?index \w+ on (\S+)/.exec(statement)?.[1] ?? ''),
  (statement, made) => made.includes(/^create trigger \w+ .*? on (\S+)/.exec(statement)?.[1] ?? ''),
];

/** Null, or a default that is the same for all rows, which Postgres notes once and writes nowhere. */
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
    'an older version that still runs needs it: it goes one version after the last that does',
  ],
  [/\btype\b/, 'the table is written anew, under a lock that nobody passes: add another column'],
  [
    /\badd column\b/,
    'a column is nullable or has a constant default, and no more: anything else reads or writes the whole table',
  ],
  [
    /\bset not null\b|\badd (constraint|check|unique|primary|foreign)\b/,
    'it reads the whole table under a lock, and refuses what an older version writes',
  ],
  [
    /^create (unique )?index\b/,
    'on a table that has rows it locks out all writers: it takes `concurrently`, in no transaction',
  ],
  [
    /^create (or replace )?trigger\b/,
    'it changes what happens to the writes of an older version: change the function of the trigger, and only add to it',
  ],
  [
    /^(update|delete|insert|merge)\b/,
    'it goes over the whole table in one transaction: write what is new as it comes, or in small steps while the site runs',
  ],
];

/** Why this migration may not be; undefined where it may. */
export function objectionTo({ sql }: Migration): string | undefined {
  const statements = statementsOf(sql);
  const made = statements.flatMap((statement) => /^create table (\S+)/.exec(statement)?.[1] ?? []);
  for (const statement of statements) {
    if (allowed.some((isAllowed) => isAllowed(statement, made))) continue;
    const why = reasons.find(([pattern]) => pattern.test(statement))?.[1] ?? 'it is none of what a migration may do';
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
