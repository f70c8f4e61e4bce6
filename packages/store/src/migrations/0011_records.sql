-- What handlers leave behind while they run. Runs that leave nothing touch none of these tables.

-- run_state: where a run is and where it is to go on, over all its attempts. The checkpoint that was saved last stays: compared by
-- the fence of the claim and by a number that grows within it.
create table carillon.run_state (
  run_id uuid primary key,
  namespace_id int not null,
  checkpoint json,
  checkpoint_fence bigint not null default 0,
  checkpoint_number bigint not null default 0,
  checkpoint_at timestamptz,
  progress real check (progress between 0 and 1),
  progress_text text,
  progress_fence bigint not null default 0,
  progress_number bigint not null default 0,
  progress_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- run_step: what the steps of a run came to. A step that is here is not done again.
create table carillon.run_step (
  run_id uuid not null,
  name text not null,
  namespace_id int not null,
  fence bigint not null,
  result json not null,
  created_at timestamptz not null,
  primary key (run_id, name)
);

-- once: what was to be done once in a namespace, whichever run does it. While there is no result, run and fence name the attempt
-- that is at it; it counts as long as that claim lasts.
create table carillon.once (
  namespace_id int not null,
  key text not null,
  run_id uuid not null,
  fence bigint not null,
  result json,
  begun_at timestamptz not null,
  ended_at timestamptz,
  expires_at timestamptz not null,
  primary key (namespace_id, key),
  constraint once_ended check ((result is null) = (ended_at is null))
);
create index once_expiry on carillon.once (expires_at);

-- run_log: lines that runs wrote, by day. One that was sent twice is here twice, and is shown once.
create table carillon.run_log (
  run_id uuid not null,
  fence bigint not null,
  number int not null,
  namespace_id int not null,
  logged_at timestamptz not null,
  level text not null check (level in ('debug', 'info', 'warn', 'error')),
  message text not null,
  fields json
) partition by range (logged_at);
create index run_log_run on carillon.run_log (run_id, fence, number);
