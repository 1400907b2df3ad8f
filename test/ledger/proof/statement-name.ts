// The statements of the ledger by name, so that a process can be killed before and after each of them. A statement that
// nobody has named is an error: then it is to be named here, and is tried from then on.

const names: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['look for migrations', /^select version::int as version from express_intents\.schema_versions/],
  ['lock for the migration', /^select pg_advisory_xact_lock/],
  ['look for the schema', /from pg_catalog\.pg_namespace/],
  ['create the schema', /^create schema/],
  ['create the migrations table', /^create table if not exists express_intents\.schema_versions/],
  ['create the tables', /^do \$migration\$ .*create table express_intents\.intents/],
  ['bound the wait for locks', /^set local lock_timeout/],
  ['note the migration', /^insert into express_intents\.schema_versions/],
  ['end claims', /lease_token = lease_token \+ 1 where due_at is not null/],
  ['record', /^insert into express_intents\.intents .*'open'/],
  ['reserve', /^insert into express_intents\.intents .*'creating'/],
  ['find repeated', /i\.sealed_secret from express_intents\.intents/],
  ['find the sealed secret', /^select sealed_secret from/],
  ['announce', /^select pg_notify/],
  ['confirm', /and state = 'creating'$/],
  ['look for what is confirmed', /^select from express_intents\.intents where id = \$1$/],
  ['claim due', /^with claimed .*first_due union all/],
  ['bring back due times', /^with ahead as materialized/],
  ['claim hinted', /^with claimed .*id = any\(\$2/],
  ['look for what is still open', /^select id from express_intents\.intents where id = any\(\$1/],
  ['heartbeat', /^update .*set leased_until = now\(\) .*leased_until is not null$/],
  ['give back', /^update .*set leased_until = null, hook_run = null from unnest/],
  ['look later', /coalesce\(\$5, i\.last_error\)/],
  ['expire', /set state = 'expired'/],
  ['submit', /set state = 'submitted'/],
  ['take back', /set state = 'open', submitted_at = null/],
  ['begin the hook', /set hook_run = \$4/],
  ['hook not called', /set leased_until = null, hook_run = null, due_at/],
  ['quarantine', /set lane = 'alone'/],
  ['hook failed', /set last_error = \$4, attempts = \$6/],
  ['bury', /set state = 'dead'/],
  ['settle', /set state = 'settled'/],
  ['look for a reversal', /set reversal_suspected_at = null, leased_until = null, hook_run = null, due_at/],
  ['doubt', /set reversal_suspected_at = now\(\)/],
  ['reverse', /set state = 'reversed'/],
  ['take up what was reversed', /set state = 'open', attempts = 0/],
  ['reopen what expired too early', /set state = 'open', due_at = now\(\)/],
  ['end the watch', /set due_at = null, leased_until = null/],
  ['retry', /case when state <> 'dead' then 'open'/],
  ['check the login', /^select 1 from express_intents\.intents where/],
  ['complete the login', /set login_completed_at = now\(\)/],
  ['reopen the login', /set login_completed_at = null/],
  ['find payments', /where browser = \$1 and resource = \$2/],
  ['list', /^select .*i\.created_at::text as created/],
  ['look for the end of a list', /^select created_at::text as created/],
  ['find', /from express_intents\.intents i where id = \$1$/],
  ['read the history', /^select .*from express_intents\.history where intent_id/],
  ['inspect', /^with due as materialized/],
  ['prune', /^with gone as materialized/],
  ['prune the history', /^delete from express_intents\.history/],
  ['read all of one moment', /^set transaction isolation level/],
  ['look for the version of the tables', /^select max\(version\)/],
  ['look for columns', /^select quote_ident\(attname\)/],
  ['export', /^select id, jsonb_build_object/],
  ['import', /^insert into express_intents\.intents .*jsonb_populate_record/],
  ['import the history', /^insert into express_intents\.history/],
  ['write the effect', /^insert into public\.effects/],
];

/** All names there are. */
export const statementNames: readonly string[] = names.map(([name]) => name);

/** @throws for a statement that has no name, or two */
export function statementName(sql: string): string {
  const line = sql.trim().replaceAll(/\s+/g, ' ');
  const found = names.filter(([, pattern]) => pattern.test(line)).map(([name]) => name);
  const [name, another] = found;
  if (name === undefined) throw new Error(`Name this statement in statement-name.ts: ${line}`);
  if (another !== undefined) throw new Error(`This statement is both ${name} and ${another}: ${line}`);
  return name;
}
