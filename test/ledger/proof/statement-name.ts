// Names of all statements of the ledger, at which the proofs kill processes. A statement without a name is an error: name it
// here.

const names: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['find migrations', /^select version::int as version, name from express_intents\.schema_versions/],
  ['lock for the migration', /^select pg_advisory_xact_lock\(\$1\)/],
  ['find the schema', /from pg_catalog\.pg_namespace/],
  ['create the schema', /^create schema/],
  ['create the migrations table', /^create table if not exists express_intents\.schema_versions/],
  ['run a migration', /^do \$migration\$/],
  ['set the lock timeout', /^set local lock_timeout/],
  ['record the migration', /^insert into express_intents\.schema_versions/],
  ['record the hooks', /^with added as/],
  ['find missing hooks', /^select name from express_intents\.required_hooks/],
  ['forget a hook', /^delete from express_intents\.required_hooks/],
  ['release all claims', /lease_token = lease_token \+ 1 where due_at is not null/],
  ['record', /^insert into express_intents\.intents .*'created'/],
  ['reserve', /^insert into express_intents\.intents .*'creating'/],
  ['find the repeated intent', /fingerprint, sealed_secret from express_intents\.intents/],
  ['find for the browser', /^select sealed_secret, description from/],
  ['notify', /^select pg_notify/],
  ['confirm together', /^with reserved as materialized/],
  ['confirm', /^update .*set state = 'created', .*is true$/],
  ['find the confirmed intent', /^select from express_intents\.intents where id = \$1$/],
  ['claim due', /^with claimed .*first_due union all/],
  ['correct due times', /^with ahead as materialized/],
  ['claim unpaid', /^with claimed .*id = any\(\$2/],
  [
    'find unpaid',
    /^select id from express_intents\.intents where id = any\(\$1::text\[\]\) and kind = 'payment' and state in/,
  ],
  ['heartbeat', /^update .*set leased_until = case when leased_until is not null then now\(\)/],
  [
    'release claims',
    /^with given as materialized .*set leased_until = null, running_hook = case when held\.keeps_call/,
  ],
  ['schedule the next poll', /coalesce\(\$5, i\.last_error\)/],
  ['expire', /set state = 'expired'/],
  ['submit', /set state = 'submitted'/],
  ['reopen a submitted payment', /set state = 'created', submitted_at = null/],
  ['start the hook', /set running_hook = \$4/],
  ['release before the hook', /set leased_until = null, running_hook = null, due_at/],
  ['quarantine', /set lane = 'quarantine'/],
  ['hook failed', /set last_error = \$4, attempts = \$6/],
  ['database failed during the hook', /set last_error = \$4, lane = 'retry'/],
  ['move to the dead letters', /set state = 'dead'/],
  ['settle', /set state = 'settled'/],
  [
    'schedule the reversal poll',
    /set reversal_suspected_at = null, attempts = 0, timeouts = 0, lane = 'first', last_error = null, leased_until = null, running_hook = null, due_at/,
  ],
  ['suspect a reversal', /set reversal_suspected_at = now\(\)/],
  ['reverse', /set state = 'reversed'/],
  ['reopen a reversed payment', /set state = 'created', attempts = 0/],
  ['reopen an expired intent', /set state = 'created', due_at = now\(\)/],
  ['end the watch', /set due_at = null, leased_until = null/],
  ['retry', /case when state <> 'dead' then 'created'/],
  ['check the login', /^select 1 from express_intents\.intents where/],
  ['lock the login', /^select pg_advisory_xact_lock\(hashtextextended/],
  ['complete the login', /set login_completed_at = now\(\)/],
  ['find the completion', /^select user_id from express_intents\.intents/],
  ['repeat the completion', /set completion_key = \$5/],
  ['read the outcome of the login', /^select login_completed_at is not null/],
  ['read the outcome of the write', /^select state <> \$3 as changed/],
  ['reopen the login', /set login_completed_at = null/],
  ['find payments', /where browser = \$1 and resource = \$2/],
  ['list', /^select i\.id, .*to_char\(i\.created_at .* as created/],
  ['find the end of a page', /^select to_char\(i\.created_at .* as created/],
  ['find', /from express_intents\.intents i where id = \$1$/],
  ['read the history', /^select .*from express_intents\.history where intent_id/],
  ['inspect', /^with due as materialized/],
  ['prune', /^with gone as materialized/],
  ['prune the history', /^delete from express_intents\.history/],
  ['set the isolation level', /^set transaction isolation level/],
  ['set the format of bytes', /^set local bytea_output/],
  ['find the table version', /^select max\(version\)/],
  ['find columns', /^select quote_ident\(attname\)/],
  ['export', /^select id, jsonb_build_object/],
  ['import', /^insert into express_intents\.intents .*jsonb_populate_record/],
  ['import the history', /^insert into express_intents\.history/],
  ['write the effect', /^insert into public\.effects/],
];

/** All names. */
export const statementNames: readonly string[] = names.map(([name]) => name);

/** @throws for a statement with no name or two */
export function statementName(sql: string): string {
  const line = sql.trim().replaceAll(/\s+/g, ' ');
  const found = names.filter(([, pattern]) => pattern.test(line)).map(([name]) => name);
  const [name, another] = found;
  if (name === undefined) throw new Error(`Name this statement in statement-name.ts: ${line}`);
  if (another !== undefined) throw new Error(`This statement is both ${name} and ${another}: ${line}`);
  return name;
}
