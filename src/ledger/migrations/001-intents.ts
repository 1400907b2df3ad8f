import { intentStates } from '../ledger.js';
import { listedChanges } from '../transitions.js';

const list = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');
const statesOfLogins = ['creating', 'created', 'completed'];

/**
 * The first tables.
 *
 * - `intents`: the terms. Rows are inserted and deleted, and never updated.
 * - `payments`: the state of each payment, and when it is processed next. `due_set_at`: when `due_at` was last set. `watch_until`: when a
 *   `created` payment expires, an `expired` or `reversed` one is no longer polled, and a `submitted` one that is still unverified or
 *   unknown to the service becomes `dead`. `leased_until` and `lease_token`: see claimed-payment.ts. `lane`, `timeouts` and
 *   `running_hook`: see hook-lanes.ts. `has_failed`: whether the row in `failures` is current.
 * - `logins`: the progress of each login, also of a payment that logs in. `completion_key`: identifies the request that completed it, and
 *   its retries.
 * - `failures`: the last error of a payment, and the hook of a dead letter.
 * - `history`: one row for each change of state, written by the statement of the change.
 * - `required_hooks`: the hooks without which no process settles payments.
 *
 * An update of `payments` that changes no indexed column writes to no index (HOT), which needs free space in its page. So claims,
 * heartbeats and the submission change none: `state` is in no index. `listed` is the state where an index needs it: of payments that
 * operators look for, and of payments for a resource, which `requirePayment` looks for.
 *
 * For every writer, the database enforces that terms are immutable, that a state changes only along a listed transition, and that
 * a payment that can still be paid has a next poll. So a bug in the program causes an error and not a wrong payment. An `after`
 * trigger locks no row, unlike a `before` trigger.
 */
export const intentsMigration = `
create table express_intents.intents (
  id text collate "C" primary key,
  kind text not null check (kind in ('payment', 'login')),
  amount numeric(19, 2),
  currency text,
  exchange_rate numeric check (exchange_rate > 0),
  quarks bigint check (quarks > 0),
  destination text,
  description text,
  login boolean not null default false,
  resource text,
  metadata jsonb not null default '{}',
  browser bytea,
  idempotency_key text,
  fingerprint bytea,
  sealed_secret text,
  created_at timestamptz not null default now(),
  check ((kind = 'payment') = (amount is not null and currency is not null and destination is not null)),
  check ((exchange_rate is null) = (quarks is null) and (kind = 'payment' or quarks is null)),
  check ((idempotency_key is null) = (fingerprint is null))
);
create index intents_list on express_intents.intents (created_at, id);
create index intents_metadata on express_intents.intents using gin (metadata jsonb_path_ops) where metadata <> '{}';
create unique index intents_idempotency on express_intents.intents (browser, idempotency_key)
  where idempotency_key is not null;

create table express_intents.payments (
  intent_id text collate "C" primary key,
  created_at timestamptz not null default now(),
  due_at timestamptz,
  due_set_at timestamptz not null default now(),
  watch_until timestamptz,
  leased_until timestamptz,
  submitted_at timestamptz,
  settled_at timestamptz,
  reversed_at timestamptz,
  reversal_suspected_at timestamptz,
  lease_token bigint not null default 0,
  attempts integer not null default 0,
  timeouts integer not null default 0,
  has_failed boolean not null default false,
  state text not null,
  lane text not null default 'first',
  running_hook text,
  browser bytea,
  resource text,
  listed text generated always as
    (case when resource is not null or state in ('reversed', 'expired', 'dead') then state end) stored,
  check (state in (${list(intentStates.filter((state) => state !== 'completed'))})
    and lane in ('first', 'retry', 'slow', 'quarantine')
    and (running_hook is null or running_hook in ('verifyPayment', 'onPaid', 'onReversed'))),
  constraint next_poll check (due_at is not null or (state not in ('created', 'submitted')
    and (state not in ('expired', 'reversed') or watch_until <= due_set_at)))
) with (fillfactor = 70);
create index payments_due on express_intents.payments (lane, due_at) where due_at is not null;
create index payments_due_set on express_intents.payments (due_set_at);
create index payments_listed on express_intents.payments (listed, created_at, intent_id) where listed is not null;
-- For requirePayment: the payments in each state. One browser may have thousands of payments for one resource.
create index payments_resource on express_intents.payments (browser, resource, listed, created_at) where resource is not null;

create table express_intents.logins (
  intent_id text collate "C" primary key,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  state text not null check (state in (${list(statesOfLogins)})),
  user_id text,
  completion_key text,
  check ((state = 'completed') = (completed_at is not null))
);
create index logins_user on express_intents.logins (user_id, created_at, intent_id) where user_id is not null;

create table express_intents.failures (
  intent_id text collate "C" primary key,
  error text not null,
  hook text check (hook in ('verifyPayment', 'onPaid', 'onReversed'))
);

create table express_intents.history (
  intent_id text collate "C" not null,
  number bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  attempts integer not null,
  from_state text not null,
  to_state text not null,
  primary key (intent_id, number)
);

create table express_intents.required_hooks (name text primary key);

create function express_intents.reject_change() returns trigger language plpgsql as $$
begin
  raise exception 'the terms of an intent are immutable: %', to_jsonb(old) ->> tg_argv[0] using errcode = 'check_violation';
end
$$;
create trigger reject_change before update on express_intents.intents
  for each row execute function express_intents.reject_change('id');
create trigger reject_change before update of intent_id, created_at, browser, resource on express_intents.payments
  for each row execute function express_intents.reject_change('intent_id');
create trigger reject_change before update of intent_id, created_at on express_intents.logins
  for each row execute function express_intents.reject_change('intent_id');

create function express_intents.enforce_transition() returns trigger language plpgsql as $$
begin
  if (old.state || ' ' || new.state) not in (${list(listedChanges)}) then
    raise exception 'intent % cannot change from % to %', old.intent_id, old.state, new.state using errcode = 'check_violation';
  end if;
  return null;
end
$$;
create trigger enforce_transition after update of state on express_intents.payments
  for each row when (old.state <> new.state) execute function express_intents.enforce_transition();
create trigger enforce_transition after update of state on express_intents.logins
  for each row when (old.state <> new.state) execute function express_intents.enforce_transition();
`;
