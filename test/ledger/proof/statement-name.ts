import { type TransitionName, transitions } from '../../../src/ledger/transitions.js';
import { assignmentsOf } from '../../../src/ledger/write-transition.js';

// Names of all statements of the ledger, at which the proofs kill processes. A statement without a name is an error: name it
// here.

/** Those of other statements. */
const statementsElsewhere: readonly TransitionName[] = ['confirm', 'completeLogin', 'reopenLogin'];

/** Matches the update of a transition, which begins with its assignments. */
function startOf(name: TransitionName): RegExp {
  const update = `update express_intents.payments p set ${assignmentsOf(name)} from unnest`;
  return new RegExp(update.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
}

const names: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['find migrations', /^select version::int as version, name from express_intents\.schema_versions/],
  ['lock for the migration', /^select pg_advisory_xact_lock\(\$1\)/],
  ['find the schema', /from pg_catalog\.pg_namespace/],
  ['create the schema', /^create schema/],
  ['create the migrations table', /^create table if not exists express_intents\.schema_versions/],
  ['run a migration', /^do \$migration\$/],
  ['set the lock timeout', /^set local lock_timeout/],
  ['record the migration', /^insert into express_intents\.schema_versions/],
  ['record the hooks', /^with added as \( insert into express_intents\.required_hooks/],
  ['find missing hooks', /^select name from express_intents\.required_hooks/],
  ['forget a hook', /^delete from express_intents\.required_hooks/],
  ['release all claims', /lease_token = lease_token \+ 1 where due_at is not null/],
  ['probe', /^insert into express_intents\.intents \(id, kind\) values/],
  ['record', /^with given as .*insert into express_intents\.intents /],
  ['reserve', /^with added as \( insert into express_intents\.intents /],
  ['find the repeated intent', /fingerprint, sealed_secret from express_intents\.intents i where/],
  ['find for the browser', /^select sealed_secret, description from/],
  ['notify', /^select pg_notify/],
  ['confirm together', /^with given as .*'creating' for update skip locked/],
  ['confirm', /^with given as .*'creating' for update \)/],
  ['find the confirmed intent', /^select from express_intents\.intents where id = \$1$/],
  ['claim due', /^with claimed .*first_due union all/],
  ['correct due times', /^with ahead as materialized/],
  ['claim unpaid', /^with claimed .*where intent_id = any\(array\(select unnest/],
  ['find unpaid', /^select intent_id as id from express_intents\.payments where intent_id = any\(array\(select unnest/],
  ['heartbeat', /^update .*set leased_until = case when leased_until is not null then now\(\)/],
  [
    'release claims',
    /^with given as materialized .*set leased_until = null, running_hook = case when held\.keeps_call/,
  ],
  ...(Object.keys(transitions) as TransitionName[])
    .filter((name) => !statementsElsewhere.includes(name))
    .map((name): [string, RegExp] => [name, startOf(name)]),
  ['find the payment to retry', /^select state, attempts::float8 as attempts, hook from/],
  ['check the login', /^select 1 from express_intents\.logins l where/],
  ['lock the login', /^select pg_advisory_xact_lock\(hashtextextended/],
  ['complete the login', /set state = 'completed'/],
  ['find the completion', /^select user_id from express_intents\.logins/],
  ['repeat the completion', /set completion_key = \$5/],
  ['read the outcome of the login', /^select state = 'completed' and completion_key/],
  ['read the outcome of the write', /^select state <> \$3 as changed/],
  ['reopen the login', /update express_intents.logins l set .*completed_at = null/],
  ['record the user id', /^update express_intents.logins set user_id/],
  ['find payments', /where browser = \$1 and resource = \$2/],
  ['list', /^select i\.id, .*to_char\(\w\.created_at .* as created/],
  ['find the end of a page', /^select to_char\(\w\.created_at .* offset/],
  ['find', /where i\.id = \$1$/],
  ['read the history', /^select .*from express_intents\.history where intent_id = \$1/],
  ['inspect', /^with due as materialized/],
  ['find old intents', /^select id, to_char\(i\.created_at/],
  ['lock finished intents', /^with payments as materialized/],
  ['read pruned intents', /where i\.id = any\(array/],
  ['read pruned history', /^select intent_id, .*from express_intents\.history/],
  ['prune', /^with payments as \(delete/],
  ['set the isolation level', /^set transaction isolation level/],
  ['set the format of bytes', /^set local bytea_output/],
  ['find the table version', /^select max\(version\)/],
  ['find columns', /^select quote_ident\(attname\)/],
  ['export', /^select id, jsonb_build_object/],
  ['import', /^insert into express_intents\.\w+ .*jsonb_populate_record/],
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
