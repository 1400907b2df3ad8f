import { type Migration, migrations } from '../../../src/ledger/migrations/migrate.js';
import { violationOf } from './migration-rules.js';

const plant = (sql: string): Migration => ({ version: 99, name: 'planted', sql });

test.each(migrations.map((migration) => [migration.name, migration] as const))(
  'the migration %s lets the previous version work and blocks no statement',
  (_name, migration) => {
    expect(violationOf(migration)).toBeUndefined();
  },
);

test.each([
  'alter table express_intents.intents add column note text',
  `alter table express_intents.intents add column channel text not null default 'web'`,
  'alter table express_intents.intents set (fillfactor = 92)',
  'create table express_intents.notes (id text primary key); create index notes_id on express_intents.notes (id)',
  'create or replace function express_intents.enforce_transition() returns trigger language plpgsql as $$ begin drop; end $$',
])('a migration is allowed with: %s', (sql) => {
  expect(violationOf(plant(sql))).toBeUndefined();
});

test.each([
  ['alter table express_intents.intents rename column browser to visitor', 'knows it by its old name'],
  ['alter table express_intents.intents drop column login', 'one version after the last'],
  ['drop index express_intents.intents_list', 'one version after the last'],
  ['alter table express_intents.payments alter column attempts type bigint', 'rewritten'],
  ['alter table express_intents.intents alter column browser set not null', 'rejects writes of an older version'],
  ['alter table express_intents.intents add constraint few check (attempts < 9)', 'rejects writes of an older version'],
  ['alter table express_intents.intents add column note text not null', 'nullable or have a constant default'],
  ['alter table express_intents.intents add column seen timestamptz default clock_timestamp()', 'constant default'],
  ['alter table express_intents.intents add column payer text references express_intents.intents', 'constant default'],
  ['alter table express_intents.intents add column a text, drop column login', 'one version after the last'],
  ['create index logins_user on express_intents.logins (user_id)', 'blocks all writers'],
  [`update express_intents.intents set metadata = '{}'`, 'the whole table in one transaction'],
  [
    'create trigger more before insert on express_intents.intents execute function f()',
    'the writes of an older version',
  ],
  ['lock table express_intents.intents', 'not allowed in a migration'],
  ['comment on schema express_intents is $$;$$; vacuum full', 'not allowed in a migration'],
])('a migration is rejected with: %s', (sql, why) => {
  expect(violationOf(plant(sql))).toContain(why);
});
