/**
 * The first tables. `intents` has one row for each intent: its immutable terms, its state, and when it is processed
 * next. `history` has one row for each change of state, written by the trigger. `metadata` has a copy of the metadata of
 * each payment that has some, because an index on it would make every update of `intents` slower. `required_hooks` has the hooks
 * without which no process settles payments.
 *
 * `completion_key`: identifies the request that completed the login, and its retries.
 * `due_set_at`: when `due_at` last changed. `watch_until`: when a `created` payment expires, an `expired` or `reversed` one
 * is no longer polled, and a `submitted` one that is still unverified or unknown to the service becomes `dead`. A submission
 * postpones it.
 * `leased_until` and `lease_token`: see claimed-payment.ts. `lane`, `timeouts` and `running_hook`: see hook-lanes.ts.
 *
 * The trigger enforces two rules for every writer: terms are immutable, and a state changes only along a listed
 * transition. So a bug in the program causes an error and not a wrong payment.
 */
export const intentsMigration = `
create table express_intents.intents (
  id text primary key,
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
  check ((kind = 'payment') = (amount is not null and currency is not null and destination is not null)),
  check ((exchange_rate is null) = (quarks is null) and (kind = 'payment' or quarks is null)),

  browser bytea,
  idempotency_key text,
  fingerprint bytea,
  sealed_secret text,
  check ((idempotency_key is null) = (fingerprint is null)),

  created_at timestamptz not null default now(),
  state text not null check (state in
    ('creating', 'created', 'completed', 'submitted', 'settled', 'reversed', 'expired', 'dead')),
  check (kind = 'payment' or (state in ('creating', 'created', 'completed') and due_at is null)),
  check (kind = 'login' or state <> 'completed'),
  submitted_at timestamptz,
  settled_at timestamptz,
  reversed_at timestamptz,
  user_id text,
  login_completed_at timestamptz,
  completion_key text,

  due_at timestamptz,
  due_set_at timestamptz not null default now(),
  watch_until timestamptz,
  leased_until timestamptz,
  lease_token bigint not null default 0,
  attempts integer not null default 0,
  timeouts integer not null default 0,
  lane text not null default 'first' check (lane in ('first', 'retry', 'slow', 'quarantine')),
  running_hook text check (running_hook in ('verifyPayment', 'onPaid', 'onReversed')),
  reversal_suspected_at timestamptz,
  dead_letter_hook text,
  last_error text
);

create index intents_due on express_intents.intents (lane, due_at) where due_at is not null;
create index intents_due_set on express_intents.intents (due_set_at) where due_at is not null;
create index intents_list on express_intents.intents (created_at, id);
create index intents_state on express_intents.intents (state, created_at, id) where state <> 'created';
create index intents_user on express_intents.intents (user_id, created_at, id) where user_id is not null;
-- For prune: intents that need no more work.
create index intents_finished on express_intents.intents (created_at, id)
  where due_at is null and state <> 'dead' and resource is null;
-- For requirePayment: the payments in each state. One browser may have thousands of payments for one resource.
create index intents_resource on express_intents.intents (browser, resource, state, created_at) where resource is not null;
create unique index intents_idempotency on express_intents.intents (browser, idempotency_key)
  where idempotency_key is not null;

create table express_intents.metadata (
  intent_id text primary key,
  metadata jsonb not null
);
create index metadata_members on express_intents.metadata using gin (metadata jsonb_path_ops);

create function express_intents.copy_metadata() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from express_intents.metadata where intent_id = old.id;
  else
    insert into express_intents.metadata (intent_id, metadata) values (new.id, new.metadata)
      on conflict (intent_id) do update set metadata = excluded.metadata;
  end if;
  return null;
end
$$;

create trigger insert_metadata after insert on express_intents.intents
  for each row when (new.metadata <> '{}') execute function express_intents.copy_metadata();
create trigger delete_metadata after delete on express_intents.intents
  for each row when (old.metadata <> '{}') execute function express_intents.copy_metadata();

create table express_intents.required_hooks (name text primary key);

create table express_intents.history (
  number bigint generated always as identity primary key,
  intent_id text not null,
  at timestamptz not null default clock_timestamp(),
  from_state text not null,
  to_state text not null,
  attempts integer not null
);
create index history_intent on express_intents.history (intent_id, number);

create function express_intents.enforce_intent_rules() returns trigger language plpgsql as $$
begin
  if (old.id, old.kind, old.amount, old.currency, old.exchange_rate, old.quarks, old.destination, old.description, old.login,
      old.resource, old.metadata, old.browser, old.idempotency_key, old.fingerprint, old.sealed_secret, old.created_at)
    is distinct from
     (new.id, new.kind, new.amount, new.currency, new.exchange_rate, new.quarks, new.destination, new.description, new.login,
      new.resource, new.metadata, new.browser, new.idempotency_key, new.fingerprint, new.sealed_secret, new.created_at)
  then
    raise exception 'the terms of intent % are immutable', old.id using errcode = 'check_violation';
  end if;
  if old.due_at is distinct from new.due_at then
    new.due_set_at := now();
  end if;
  if old.state = new.state then
    return new;
  end if;
  if (old.state || ' ' || new.state) not in (
    'creating created',
    'created completed', 'completed created',
    'created submitted', 'created expired',
    'submitted settled', 'submitted created', 'submitted dead',
    'settled reversed', 'settled dead',
    'dead submitted', 'dead settled',
    'reversed created',
    'expired created', 'expired submitted'
  ) then
    raise exception 'intent % cannot change from % to %', old.id, old.state, new.state using errcode = 'check_violation';
  end if;
  insert into express_intents.history (intent_id, from_state, to_state, attempts)
    values (old.id, old.state, new.state, case when new.state = 'dead' then new.attempts else old.attempts end);
  return new;
end
$$;

create trigger enforce_intent_rules before update on express_intents.intents
  for each row execute function express_intents.enforce_intent_rules();
`;
