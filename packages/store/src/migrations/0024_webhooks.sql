-- Webhook endpoints, and the ends of runs that somebody is to be told of. Runs that nobody asked about touch none of this.

-- Whom to tell. secret signs; old_secret signs as well until its time is over. failing_since: no delivery has succeeded since.
create table carillon.webhook (
  id uuid primary key,
  namespace_id integer not null,
  url text not null,
  types text[] not null,
  tasks text[],
  queues text[],
  description text,
  include text[] not null,
  secret text not null,
  old_secret text,
  old_secret_until timestamptz,
  is_enabled boolean not null default true,
  disabled_reason text,
  failing_since timestamptz,
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((old_secret is null) = (old_secret_until is null))
);
create index webhook_namespace on carillon.webhook (namespace_id, id);

-- Runs whose end is to be told. A row is written by the transaction that ends the run, and goes with the one that makes the
-- deliveries: each end is told once.
create table carillon.run_notice (
  run_id uuid primary key,
  namespace_id integer not null,
  ended_at timestamptz not null
);

-- Every way in which a run ends without success leads through its history. Successes are many and end in one place, which says
-- by itself whether anybody is to be told.
create function carillon.note_not_succeeded() returns trigger language plpgsql as $$
begin
  insert into carillon.run_notice (run_id, namespace_id, ended_at)
  select new.id, new.namespace_id, new.finished_at
  where new.policy -> 'callbacks' is not null
     or exists (select from carillon.webhook w where w.namespace_id = new.namespace_id and w.is_enabled)
  on conflict do nothing;
  return null;
end
$$;
create trigger run_history_noticed after insert on carillon.run_history for each row
when (new.status <> 'succeeded' and new.trigger not like 'callback%') execute function carillon.note_not_succeeded();
