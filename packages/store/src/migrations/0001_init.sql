-- The first schema: jobs and their due times, live runs, history by day, the ledger, nodes and shards, worker sessions.
-- Hot tables (job_due, run) are narrow and carry no index that only a search or a rescue would need.

create table carillon.setting (
  name text primary key,
  value text not null
);

create table carillon.namespace (
  id int generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now(),
  check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$')
);

insert into carillon.namespace (name) values ('default');

-- What a worker must be able to do, folded into one number: the first column of the claim index.
create table carillon.lane (
  id int generated always as identity primary key,
  queue text not null,
  task text not null,
  unique (queue, task)
);

-- Cold: definitions. Never written by a fire; search indexes live here.
create table carillon.job (
  id uuid primary key,
  namespace_id int not null,
  shard smallint not null,
  lane int not null,
  key text,
  task text not null,
  queue text not null,
  priority smallint not null,
  payload json,
  schedule json not null,
  policy json,
  labels jsonb not null default '{}',
  owner text,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (priority between 0 and 9)
);

create unique index job_key on carillon.job (namespace_id, key) where key is not null;
create index job_by_namespace on carillon.job (namespace_id, id);

-- Hot: the only row that a fire updates.
create table carillon.job_due (
  job_id uuid primary key,
  namespace_id int not null,
  shard smallint not null,
  class smallint not null,
  state text not null,
  version int not null,
  next_nominal_at timestamptz,
  next_fire_at timestamptz,
  fired_through timestamptz,
  fired_count int not null default 0,
  max_runs int,
  state_reason text,
  check (state in ('active', 'paused', 'completed', 'cancelled')),
  check ((next_nominal_at is null) = (next_fire_at is null)),
  check (next_fire_at >= next_nominal_at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);

create index job_due_next on carillon.job_due (shard, class, next_fire_at)
  where state = 'active' and next_fire_at is not null;

-- Hot: live runs near their time. A one-off job without a key is this one row: job id and run id are the same.
create table carillon.run (
  id uuid primary key,
  job_id uuid,
  namespace_id int not null,
  shard smallint not null,
  lane int not null,
  state text not null,
  priority smallint not null,
  rank bigint not null,
  run_at timestamptz not null,
  nominal_at timestamptz not null,
  created_at timestamptz not null,
  trigger text not null,
  task text not null,
  queue text not null,
  payload json,
  policy json,
  labels jsonb,
  owner text,
  attempt smallint not null default 0,
  losses smallint not null default 0,
  fence bigint not null default 0,
  session_id uuid,
  claimed_at timestamptz,
  started_at timestamptz,
  state_reason text,
  attempts jsonb,
  check (state in ('scheduled', 'queued', 'blocked', 'running', 'retrying')),
  check ((state = 'running') = (session_id is not null))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);

create index run_claim on carillon.run (lane, namespace_id, rank) where state = 'queued';
create index run_due on carillon.run (shard, run_at) where state in ('scheduled', 'retrying');

-- Cold, append-only: one partition a day by the time the run ended, made ahead by the nodes.
create table carillon.run_history (
  id uuid not null,
  job_id uuid,
  namespace_id int not null,
  status text not null,
  status_reason text,
  priority smallint not null,
  run_at timestamptz not null,
  nominal_at timestamptz not null,
  created_at timestamptz not null,
  trigger text not null,
  task text not null,
  queue text not null,
  payload json,
  policy json,
  labels jsonb,
  owner text,
  attempt smallint not null,
  losses smallint not null,
  fence bigint not null,
  session_id uuid,
  started_at timestamptz,
  finished_at timestamptz not null,
  output json,
  error json,
  attempts jsonb,
  check (status in ('succeeded', 'failed', 'cancelled', 'skipped'))
) partition by range (finished_at);

create index run_history_id on carillon.run_history (id);
create index run_history_job on carillon.run_history (job_id, id);

-- The ledger: nominal instants that did not become a run as usual, as ranges that grow while the reason repeats.
create table carillon.occurrence (
  job_id uuid not null,
  namespace_id int not null,
  version int not null,
  reason text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  count bigint not null,
  recorded_at timestamptz not null,
  primary key (job_id, version, reason, from_at),
  check (to_at >= from_at),
  check (count > 0)
);

create table carillon.node (
  id uuid primary key,
  name text not null,
  address text,
  version text not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  skew_ms int not null default 0
);

create table carillon.shard (
  id smallint primary key,
  owner uuid,
  epoch bigint not null default 0
) with (fillfactor = 50);

insert into carillon.shard (id) select generate_series(0, 1023);
insert into carillon.setting (name, value) values ('shards', '1024');

create table carillon.worker_session (
  id uuid primary key,
  namespace_id int not null,
  name text not null,
  queues text[] not null,
  tasks text[] not null,
  slots int not null,
  node_id uuid,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null
);
