-- The schema after all migrations, read from the catalogs; never executed. src/migrations/0001_initial.sql explains it. A test compares
-- this file with a migrated database; `npm run schema` updates it.

create table carillon.backfill (
  id uuid not null,
  job_id uuid not null,
  namespace_id integer not null,
  shard smallint not null,
  state text not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  through_at timestamp with time zone,
  next_step_at timestamp with time zone not null,
  per_second real not null,
  concurrency integer not null,
  repeats boolean not null,
  force boolean not null,
  total bigint not null,
  made bigint not null default 0,
  passed bigint not null default 0,
  run_ids uuid[] not null default '{}'::uuid[],
  actor text,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  skipped bigint not null default 0,
  state_reason text,
  trace json,
  constraint backfill_pkey PRIMARY KEY (id),
  constraint backfill_concurrency_check CHECK ((concurrency > 0)),
  constraint backfill_finished_check CHECK (((state = 'running'::text) = (finished_at IS NULL))),
  constraint backfill_per_second_check CHECK ((per_second > (0)::double precision)),
  constraint backfill_range_check CHECK ((to_at >= from_at)),
  constraint backfill_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'aborted'::text])))
);

create table carillon.breaker (
  namespace_id integer not null,
  name text not null,
  state text not null,
  reason text not null,
  opened_at timestamp with time zone not null,
  probe_at timestamp with time zone not null,
  open_for_ms bigint not null,
  probe_by uuid,
  probe_until timestamp with time zone,
  openings integer not null default 1,
  updated_at timestamp with time zone not null,
  probe_run_id uuid,
  probe_fence bigint,
  probe_version bigint not null default 0,
  constraint breaker_pkey PRIMARY KEY (namespace_id, name),
  constraint breaker_probe_check CHECK (((state = 'half_open'::text) = (probe_by IS NOT NULL))),
  constraint breaker_state_check CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text]))),
  constraint breaker_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespace(id)
);

create table carillon.calendar (
  id integer not null generated always as identity,
  namespace_id integer not null,
  name text not null,
  version integer not null default 1,
  definition json not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint calendar_pkey PRIMARY KEY (id),
  constraint calendar_namespace_id_name_key UNIQUE (namespace_id, name)
);

create table carillon.calendar_version (
  calendar_id integer not null,
  version integer not null,
  definition json not null,
  valid_from timestamp with time zone not null,
  valid_to timestamp with time zone not null,
  constraint calendar_version_pkey PRIMARY KEY (calendar_id, version)
);

create table carillon.callback (
  token_hash bytea not null,
  run_id uuid not null,
  fence bigint not null,
  attempt smallint not null,
  namespace_id integer not null,
  created_at timestamp with time zone not null,
  begun_at timestamp with time zone,
  due_at timestamp with time zone,
  answer json,
  answered_at timestamp with time zone,
  constraint callback_pkey PRIMARY KEY (token_hash),
  constraint callback_answered_check CHECK (((answer IS NULL) OR (answered_at IS NOT NULL))),
  constraint callback_waiting_check CHECK (((due_at IS NULL) OR (begun_at IS NOT NULL)))
);

create table carillon.callback_secret (
  namespace_id integer not null,
  secret text not null,
  old_secret text,
  old_secret_until timestamp with time zone,
  made_at timestamp with time zone not null default clock_timestamp(),
  constraint callback_secret_pkey PRIMARY KEY (namespace_id),
  constraint callback_secret_old_secret_check CHECK (((old_secret IS NULL) = (old_secret_until IS NULL))),
  constraint callback_secret_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespace(id)
);

create table carillon.dedupe (
  namespace_id integer not null,
  task text not null,
  key text not null,
  run_id uuid not null,
  replaces uuid,
  window_ms bigint,
  created_at timestamp with time zone not null,
  check_at timestamp with time zone not null,
  constraint dedupe_pkey PRIMARY KEY (namespace_id, task, key),
  constraint dedupe_window_ms_check CHECK ((window_ms > 0))
) with (
  autovacuum_analyze_scale_factor=0.02,
  autovacuum_analyze_threshold=50000,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=20000,
  fillfactor=80
);

create table carillon.dependency (
  job_id uuid not null,
  "position" smallint not null,
  namespace_id integer not null,
  shard smallint not null,
  upstream_id uuid not null,
  on_status text not null,
  condition text,
  met_run_id uuid,
  met_at timestamp with time zone,
  seen_at timestamp with time zone,
  constraint dependency_pkey PRIMARY KEY (job_id, "position"),
  constraint dependency_met_check CHECK (((met_run_id IS NULL) = (met_at IS NULL))),
  constraint dependency_on_status_check CHECK ((on_status = ANY (ARRAY['success'::text, 'failure'::text, 'finish'::text])))
);

create table carillon.dependency_event (
  number bigint not null generated always as identity,
  job_id uuid not null,
  "position" smallint not null,
  shard smallint not null,
  run_id uuid not null,
  ended_at timestamp with time zone not null,
  deferred boolean not null default false,
  constraint dependency_event_pkey PRIMARY KEY (job_id, "position", run_id)
);

create table carillon.error_group (
  namespace_id integer not null,
  fingerprint text not null,
  type text not null,
  message text not null,
  tasks text[] not null,
  count bigint not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  sample_run_id uuid not null,
  constraint error_group_pkey PRIMARY KEY (namespace_id, fingerprint)
);

create table carillon.far_future_run (
  id uuid not null,
  run_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  rank bigint not null,
  namespace_id integer not null,
  lane integer not null,
  shard smallint not null,
  priority smallint not null,
  payload json,
  policy json,
  labels jsonb,
  owner text,
  deadline_at timestamp with time zone,
  constraint far_future_run_pkey PRIMARY KEY (namespace_id, id)
) with (
  autovacuum_analyze_scale_factor=0.02,
  autovacuum_analyze_threshold=50000,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=20000
);

create table carillon.idempotency_key (
  namespace_id integer not null,
  caller text not null,
  key text not null,
  request text not null,
  token uuid not null,
  begun_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  effect json,
  answer json,
  constraint idempotency_key_pkey PRIMARY KEY (namespace_id, caller, key)
);

create table carillon.job (
  id uuid not null,
  namespace_id integer not null,
  shard smallint not null,
  lane integer not null,
  key text,
  task text not null,
  queue text not null,
  priority smallint not null,
  payload json,
  schedule json not null,
  policy json,
  labels jsonb not null default '{}'::jsonb,
  owner text,
  version integer not null default 1,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  firing json,
  defined_at timestamp with time zone,
  pause json,
  ended_at timestamp with time zone,
  deadline_ms bigint generated always as (((policy ->> 'deadlineMs'::text))::bigint) stored,
  has_downstream boolean,
  constraint job_pkey PRIMARY KEY (id),
  constraint job_priority_check CHECK (((priority >= 0) AND (priority <= 9)))
);

create table carillon.job_calendar (
  job_id uuid not null,
  calendar_id integer not null,
  shard smallint not null,
  seen_version integer not null,
  constraint job_calendar_pkey PRIMARY KEY (job_id, calendar_id)
);

create table carillon.job_due (
  job_id uuid not null,
  namespace_id integer not null,
  shard smallint not null,
  class smallint not null,
  state text not null,
  version integer not null,
  next_nominal_at timestamp with time zone,
  next_fire_at timestamp with time zone,
  fired_through timestamp with time zone,
  fired_count integer not null default 0,
  max_runs integer,
  state_reason text,
  overlap text not null default 'skip'::text,
  runs_made bigint not null default 0,
  run_ids uuid[] not null default '{}'::uuid[],
  ledger_from timestamp with time zone,
  ledger_reason text,
  catch_up_to timestamp with time zone,
  defined_at timestamp with time zone not null default now(),
  definition uuid,
  constraint job_due_pkey PRIMARY KEY (job_id),
  constraint job_due_next_check CHECK (
CASE state
    WHEN 'active'::text THEN ((next_nominal_at IS NULL) = (next_fire_at IS NULL))
    WHEN 'paused'::text THEN (next_nominal_at IS NULL)
    ELSE ((next_fire_at IS NULL) AND (next_nominal_at IS NULL))
END),
  constraint job_due_order_check CHECK ((next_fire_at >= next_nominal_at)),
  constraint job_due_overlap_check CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'queue_one'::text, 'queue_all'::text, 'cancel_running'::text]))),
  constraint job_due_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'completed'::text, 'cancelled'::text])))
) with (
  autovacuum_analyze_scale_factor=0,
  autovacuum_analyze_threshold=50000,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=20000,
  fillfactor=80
);

create table carillon.job_version (
  job_id uuid not null,
  namespace_id integer not null,
  version integer not null,
  definition json not null,
  valid_from timestamp with time zone not null,
  valid_to timestamp with time zone not null,
  replaced_by text,
  constraint job_version_pkey PRIMARY KEY (job_id, version)
);

create table carillon.lane (
  id integer not null generated always as identity,
  queue text not null,
  task text not null,
  kind text not null default 'plain'::text,
  requires text not null default ''::text,
  constraint lane_pkey PRIMARY KEY (id),
  constraint lane_queue_task_kind_requires_key UNIQUE (queue, task, kind, requires),
  constraint lane_kind_check CHECK ((kind = ANY (ARRAY['plain'::text, 'solo'::text, 'lost'::text, 'strict'::text, 'strict_once'::text, 'gated'::text, 'admitted'::text])))
);

create table carillon.limit_hold (
  limit_id bigint not null,
  run_id uuid not null,
  fence bigint not null,
  gate text not null,
  admitted_at timestamp with time zone not null,
  constraint limit_hold_pkey PRIMARY KEY (limit_id, run_id, fence)
) with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=5000
);

create table carillon.limit_key (
  id bigint not null generated always as identity,
  namespace_id integer not null,
  scope text not null,
  kind text not null,
  name text not null,
  max_count integer not null,
  per_ms bigint,
  burst integer,
  on_failure text,
  is_fixed boolean not null default false,
  defined_at timestamp with time zone not null,
  used integer not null default 0,
  starts bigint[] not null default '{}'::bigint[],
  stopped_by uuid,
  swept_at timestamp with time zone,
  used_at timestamp with time zone not null default clock_timestamp(),
  is_counted boolean not null default true,
  constraint limit_key_pkey PRIMARY KEY (id),
  constraint limit_key_namespace_id_scope_kind_name_key UNIQUE (namespace_id, scope, kind, name),
  constraint limit_key_kind_check CHECK ((kind = ANY (ARRAY['concurrency'::text, 'rate'::text, 'order'::text]))),
  constraint limit_key_max_count_check CHECK ((max_count >= 0)),
  constraint limit_key_scope_check CHECK ((scope = ANY (ARRAY['key'::text, 'task'::text, 'job'::text, 'queue'::text, 'namespace'::text]))),
  constraint limit_key_used_check CHECK ((used >= 0))
) with (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=2000,
  fillfactor=70
);

create table carillon.maintenance_window (
  id integer not null generated always as identity,
  namespace_id integer not null,
  name text not null,
  definition json not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint maintenance_window_pkey PRIMARY KEY (id),
  constraint maintenance_window_namespace_id_name_key UNIQUE (namespace_id, name)
);

create table carillon.migration (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null,
  constraint migration_pkey PRIMARY KEY (number),
  constraint migration_number_check CHECK ((number > 0))
);

create table carillon.namespace (
  id integer not null generated always as identity,
  name text not null,
  created_at timestamp with time zone not null default now(),
  limits json,
  weight integer not null default 1,
  version integer not null default 1,
  updated_at timestamp with time zone not null default now(),
  constraint namespace_pkey PRIMARY KEY (id),
  constraint namespace_name_key UNIQUE (name),
  constraint namespace_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'::text)),
  constraint namespace_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);

create table carillon.node (
  id uuid not null,
  name text not null,
  address text,
  version text not null,
  started_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  skew_ms integer not null default 0,
  takes_shards boolean not null default true,
  level integer not null default 0,
  constraint node_pkey PRIMARY KEY (id)
);

create table carillon.occurrence (
  job_id uuid not null,
  namespace_id integer not null,
  version integer not null,
  reason text not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  count bigint not null,
  recorded_at timestamp with time zone not null,
  detail text,
  constraint occurrence_pkey PRIMARY KEY (job_id, from_at, version, reason),
  constraint occurrence_count_check CHECK ((count > 0)),
  constraint occurrence_range_check CHECK ((to_at >= from_at))
);

create table carillon.once (
  namespace_id integer not null,
  key text not null,
  run_id uuid not null,
  fence bigint not null,
  result json,
  begun_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint once_pkey PRIMARY KEY (namespace_id, key),
  constraint once_ended_check CHECK (((result IS NULL) = (ended_at IS NULL)))
);

create table carillon.operation (
  id uuid not null,
  namespace_id integer not null,
  shard smallint not null,
  kind text not null,
  state text not null,
  request json not null,
  cursor text,
  step bigint not null default 0,
  seen bigint not null default 0,
  done bigint not null default 0,
  failed bigint not null default 0,
  failures json not null default '[]'::json,
  state_reason text,
  actor text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  trace json,
  constraint operation_pkey PRIMARY KEY (id),
  constraint operation_finished_check CHECK (((state = 'running'::text) = (finished_at IS NULL))),
  constraint operation_kind_check CHECK ((kind = ANY (ARRAY['cancel'::text, 'retry'::text, 'discard'::text, 'purge'::text]))),
  constraint operation_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'aborted'::text])))
);

create table carillon.queue (
  namespace_id integer not null,
  name text not null,
  order_kind text not null default 'priority'::text,
  bound_ms bigint,
  pause json,
  version integer not null default 1,
  revision bigint not null generated by default as identity,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  slot_run_id uuid,
  slot_fence bigint,
  slot_version bigint not null default 0,
  limits json,
  paused_until timestamp with time zone,
  constraint queue_pkey PRIMARY KEY (namespace_id, name),
  constraint queue_bound_ms_check CHECK ((bound_ms >= 0)),
  constraint queue_order_kind_check CHECK ((order_kind = ANY (ARRAY['priority'::text, 'fifo'::text, 'edf'::text, 'sjf'::text, 'strict'::text]))),
  constraint queue_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespace(id)
);

create table carillon.redrive (
  number bigint not null generated always as identity,
  run_id uuid not null,
  namespace_id integer not null,
  kind text not null,
  new_run_id uuid,
  actor text,
  created_at timestamp with time zone not null,
  constraint redrive_pkey PRIMARY KEY (number),
  constraint redrive_kind_check CHECK ((kind = ANY (ARRAY['retry'::text, 'replay'::text, 'discard'::text]))),
  constraint redrive_new_run_check CHECK (((kind = 'discard'::text) = (new_run_id IS NULL)))
);

create table carillon.revision (
  name text not null,
  value bigint not null default 0,
  constraint revision_pkey PRIMARY KEY (name)
);

create table carillon.run (
  id uuid not null,
  job_id uuid,
  namespace_id integer not null,
  shard smallint not null,
  lane integer not null,
  state text not null,
  priority smallint not null,
  rank bigint not null,
  run_at timestamp with time zone not null,
  nominal_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
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
  claimed_at timestamp with time zone,
  started_at timestamp with time zone,
  state_reason text,
  attempts jsonb,
  version integer,
  untracked boolean not null default false,
  serial boolean not null default false,
  cancel_reason text,
  stage smallint not null generated always as (
CASE
    WHEN (state = ANY (ARRAY['queued'::text, 'running'::text])) THEN 1
    WHEN (state = ANY (ARRAY['scheduled'::text, 'retrying'::text])) THEN 2
    ELSE 3
END) stored,
  deadline_at timestamp with time zone,
  limits text,
  has_downstream boolean,
  constraint run_pkey PRIMARY KEY (id),
  constraint run_session_check CHECK (((state = 'running'::text) = (session_id IS NOT NULL))),
  constraint run_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'queued'::text, 'blocked'::text, 'running'::text, 'retrying'::text])))
) with (
  autovacuum_analyze_scale_factor=0,
  autovacuum_analyze_threshold=50000,
  autovacuum_vacuum_insert_scale_factor=0,
  autovacuum_vacuum_insert_threshold=100000,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=20000,
  fillfactor=50
);

create table carillon.run_history (
  id uuid not null,
  job_id uuid,
  namespace_id integer not null,
  status text not null,
  status_reason text,
  priority smallint not null,
  run_at timestamp with time zone not null,
  nominal_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
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
  started_at timestamp with time zone,
  finished_at timestamp with time zone not null,
  output json,
  error json,
  attempts jsonb,
  version integer,
  fingerprint text,
  constraint run_history_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text, 'skipped'::text])))
) partition by RANGE (finished_at);

create table carillon.run_log (
  run_id uuid not null,
  fence bigint not null,
  number integer not null,
  namespace_id integer not null,
  logged_at timestamp with time zone not null,
  level text not null,
  message text not null,
  fields json,
  constraint run_log_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text])))
) partition by RANGE (logged_at);

create table carillon.run_notice (
  run_id uuid not null,
  namespace_id integer not null,
  ended_at timestamp with time zone not null,
  constraint run_notice_pkey PRIMARY KEY (run_id)
);

create table carillon.run_progress (
  run_id uuid not null,
  namespace_id integer not null,
  checkpoint json,
  checkpoint_fence bigint not null default 0,
  checkpoint_number bigint not null default 0,
  checkpoint_at timestamp with time zone,
  progress real,
  progress_text text,
  progress_fence bigint not null default 0,
  progress_number bigint not null default 0,
  progress_at timestamp with time zone,
  constraint run_progress_pkey PRIMARY KEY (run_id),
  constraint run_progress_progress_check CHECK (((progress >= (0)::double precision) AND (progress <= (1)::double precision)))
) with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=5000,
  fillfactor=50
);

create table carillon.run_step (
  run_id uuid not null,
  name text not null,
  namespace_id integer not null,
  fence bigint not null,
  result json not null,
  created_at timestamp with time zone not null,
  constraint run_step_pkey PRIMARY KEY (run_id, name)
);

create table carillon.search_path (
  namespace_id integer not null,
  path text not null,
  declared_at timestamp with time zone not null default clock_timestamp(),
  constraint search_path_pkey PRIMARY KEY (namespace_id, path),
  constraint search_path_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespace(id)
);

create table carillon.secret (
  name text not null,
  value bytea not null,
  constraint secret_pkey PRIMARY KEY (name)
);

create table carillon.setting (
  name text not null,
  value text not null,
  constraint setting_pkey PRIMARY KEY (name)
);

create table carillon.shard (
  id smallint not null,
  owner uuid,
  epoch bigint not null default 0,
  constraint shard_pkey PRIMARY KEY (id)
) with (
  fillfactor=50
);

create table carillon.task (
  namespace_id integer not null,
  name text not null,
  defaults json not null,
  revision bigint not null generated by default as identity,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint task_pkey PRIMARY KEY (namespace_id, name),
  constraint task_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespace(id)
);

create table carillon.task_duration (
  namespace_id integer not null,
  queue text not null,
  task text not null,
  expected_ms double precision not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint task_duration_pkey PRIMARY KEY (namespace_id, queue, task)
);

create table carillon.webhook (
  id uuid not null,
  namespace_id integer not null,
  url text not null,
  types text[] not null,
  tasks text[],
  queues text[],
  description text,
  include text[] not null,
  secret text not null,
  old_secret text,
  old_secret_until timestamp with time zone,
  is_enabled boolean not null default true,
  disabled_reason text,
  failing_since timestamp with time zone,
  version integer not null default 1,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_old_secret_check CHECK (((old_secret IS NULL) = (old_secret_until IS NULL)))
);

create table carillon.worker_session (
  id uuid not null,
  namespace_id integer not null,
  name text not null,
  queues text[] not null,
  tasks text[] not null,
  slots integer not null,
  node_id uuid,
  started_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  gateway_id uuid,
  state text not null default 'active'::text,
  labels jsonb not null default '{}'::jsonb,
  versions jsonb not null default '{}'::jsonb,
  weights jsonb not null default '{}'::jsonb,
  is_spot boolean not null default false,
  namespaces text[],
  limits_revision bigint not null default 0,
  fence_floor bigint not null default 0,
  constraint worker_session_pkey PRIMARY KEY (id),
  constraint worker_session_state_check CHECK ((state = ANY (ARRAY['active'::text, 'cordoned'::text, 'draining'::text, 'leaving'::text])))
);

CREATE INDEX backfill_job ON carillon.backfill USING btree (job_id, id);

CREATE INDEX backfill_running ON carillon.backfill USING btree (shard, next_step_at) WHERE (state = 'running'::text);

CREATE INDEX callback_due ON carillon.callback USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX callback_run ON carillon.callback USING btree (run_id);

CREATE INDEX dedupe_check_at ON carillon.dedupe USING btree (check_at);

CREATE INDEX dependency_upstream ON carillon.dependency USING btree (upstream_id);

CREATE INDEX dependency_event_open ON carillon.dependency_event USING btree (shard, number) WHERE (NOT deferred);

CREATE INDEX error_group_seen ON carillon.error_group USING btree (namespace_id, last_seen_at, fingerprint);

CREATE INDEX far_future_run_due ON carillon.far_future_run USING btree (shard, run_at);

CREATE INDEX idempotency_key_expiry ON carillon.idempotency_key USING btree (expires_at);

CREATE INDEX job_by_namespace ON carillon.job USING btree (namespace_id, id);

CREATE INDEX job_ended_key ON carillon.job USING btree (namespace_id, key, id) WHERE ((key IS NOT NULL) AND (ended_at IS NOT NULL));

CREATE INDEX job_labels ON carillon.job USING gin (labels);

CREATE UNIQUE INDEX job_live_key ON carillon.job USING btree (namespace_id, key) WHERE ((key IS NOT NULL) AND (ended_at IS NULL));

CREATE INDEX job_owner ON carillon.job USING btree (namespace_id, owner, id) WHERE (owner IS NOT NULL);

CREATE INDEX job_queue ON carillon.job USING btree (namespace_id, queue, id);

CREATE INDEX job_task ON carillon.job USING btree (namespace_id, task, id);

CREATE INDEX job_calendar_by_calendar ON carillon.job_calendar USING btree (calendar_id, seen_version);

CREATE INDEX job_due_held ON carillon.job_due USING btree (shard) WHERE (state_reason IS NOT NULL);

CREATE INDEX job_due_time ON carillon.job_due USING btree (shard, class, next_fire_at) WHERE (next_fire_at IS NOT NULL);

CREATE INDEX limit_hold_run ON carillon.limit_hold USING btree (run_id);

CREATE INDEX limit_key_held ON carillon.limit_key USING btree (id) WHERE (used > 0);

CREATE INDEX once_expiry ON carillon.once USING btree (expires_at);

CREATE INDEX operation_by_namespace ON carillon.operation USING btree (namespace_id, id);

CREATE INDEX operation_running ON carillon.operation USING btree (shard, updated_at) WHERE (state = 'running'::text);

CREATE INDEX queue_limited ON carillon.queue USING btree (namespace_id, name) WHERE (limits IS NOT NULL);

CREATE INDEX queue_paused ON carillon.queue USING btree (paused_until) WHERE (paused_until IS NOT NULL);

CREATE INDEX queue_revision ON carillon.queue USING btree (revision);

CREATE INDEX redrive_by_run ON carillon.redrive USING btree (run_id);

CREATE UNIQUE INDEX redrive_once ON carillon.redrive USING btree (run_id) WHERE (kind <> 'replay'::text);

CREATE INDEX run_blocked ON carillon.run USING btree (shard, id) WHERE ((stage = 3) AND serial);

CREATE INDEX run_claim ON carillon.run USING btree (lane, namespace_id, rank) WHERE (stage = 1);

CREATE INDEX run_deadline ON carillon.run USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);

CREATE INDEX run_due ON carillon.run USING btree (shard, run_at) WHERE (stage = 2);

CREATE INDEX run_gate ON carillon.run USING btree (split_part(limits, '
'::text, 1), rank, id) WHERE ((stage = 3) AND (limits IS NOT NULL));

CREATE INDEX run_gate_order ON carillon.run USING btree (split_part(limits, '
'::text, 1), nominal_at, id) WHERE ((stage = 3) AND (limits ~~ 'o:%'::text));

CREATE INDEX run_untracked ON carillon.run USING btree (job_id) WHERE untracked;

CREATE INDEX run_history_failed ON ONLY carillon.run_history USING btree (namespace_id, id) WHERE (status = 'failed'::text);

CREATE INDEX run_history_id ON ONLY carillon.run_history USING btree (id);

CREATE INDEX run_history_job ON ONLY carillon.run_history USING btree (job_id, id) WHERE (job_id <> id);

CREATE INDEX run_history_labels ON ONLY carillon.run_history USING gin (labels) WHERE (labels IS NOT NULL);

CREATE INDEX run_history_not_run ON ONLY carillon.run_history USING btree (namespace_id, id) WHERE (status = ANY (ARRAY['cancelled'::text, 'skipped'::text]));

CREATE INDEX run_history_owner ON ONLY carillon.run_history USING btree (namespace_id, owner, id) WHERE (owner IS NOT NULL);

CREATE INDEX run_history_requested ON ONLY carillon.run_history USING btree (namespace_id, id) WHERE (split_part(trigger, ':'::text, 1) = ANY (ARRAY['run_now'::text, 'backfill'::text, 'retry'::text, 'replay'::text]));

CREATE INDEX run_history_task ON ONLY carillon.run_history USING btree (namespace_id, task, id);

CREATE INDEX run_log_run ON ONLY carillon.run_log USING btree (run_id, fence, number);

CREATE INDEX task_revision ON carillon.task USING btree (revision);

CREATE INDEX webhook_namespace ON carillon.webhook USING btree (namespace_id, id);

CREATE OR REPLACE FUNCTION carillon.cancel_planned_runs(namespace_number integer, ids uuid[], reason text)
 RETURNS TABLE(id uuid, namespace_id integer, task text, queue text)
 LANGUAGE sql
AS $function$
  with pick as materialized (
    select d.job_id, d.version, d.next_fire_at
    from "carillon".job_due d
    where d.job_id = any (ids) and d.namespace_id = namespace_number and d.runs_made = 0 and d.state in ('active', 'paused')
    order by d.job_id
    for update of d
  ), ended as (
    update "carillon".job j
    set version = j.version + 1, pause = null, ended_at = clock_timestamp(), updated_at = clock_timestamp()
    from pick p
    where j.id = p.job_id and j.schedule ->> 'kind' = 'at'
    returning j.*, p.version as version_before, to_timestamp((j.schedule ->> 'at')::float8 / 1000) as at, p.next_fire_at
  ), moved as (
    update "carillon".job_due d
    set state = 'cancelled', state_reason = null, version = e.version, next_nominal_at = null, next_fire_at = null,
        catch_up_to = null, fired_through = e.at, fired_count = d.fired_count + 1, runs_made = 1, run_ids = array[d.job_id]
    from ended e
    where d.job_id = e.id
  ), kept as (
    insert into "carillon".run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
      trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, finished_at, version)
    select e.id, e.id, e.namespace_id, 'cancelled', reason, e.priority, coalesce(e.next_fire_at, e.at), e.at, e.created_at,
           'schedule', e.task, e.queue, e.payload, e.policy, nullif(e.labels, '{}'), e.owner, 0, 0, 0, clock_timestamp(),
           e.version_before
    from ended e
  )
  select e.id, e.namespace_id, e.task, e.queue from ended e
$function$;

CREATE OR REPLACE FUNCTION carillon.check_policy(policy jsonb)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  retry constant jsonb := policy -> 'retry';
  sla constant jsonb := policy -> 'sla';
  max_ms constant numeric := 31622400000;
  no_duration constant text := ' is not a whole number of ms up to 366 days';
  fault constant text := case
    when not "carillon".is_absent_or_integer(policy -> 'timeoutMs', 1, max_ms) then 'timeoutMs' || no_duration
    when not "carillon".is_absent_or_integer(policy -> 'deadlineMs', 1, max_ms) then 'deadlineMs' || no_duration
    when jsonb_typeof(sla) <> 'object' then 'sla is not an object'
    when not "carillon".is_absent_or_integer(sla -> 'startWithinMs', 1, max_ms) then 'sla.startWithinMs' || no_duration
    when not "carillon".is_absent_or_integer(sla -> 'finishWithinMs', 1, max_ms) then 'sla.finishWithinMs' || no_duration
    when policy ->> 'guarantee' not in ('at_least_once', 'at_most_once') then 'guarantee is not at_least_once or at_most_once'
    when jsonb_typeof(retry) <> 'object' then 'retry is not an object'
    when not "carillon".is_absent_or_integer(retry -> 'maxAttempts', 1, 10000) then 'retry.maxAttempts is not a whole number from 1 to 10000'
    when not "carillon".is_absent_or_integer(retry -> 'initialMs', 0, max_ms) then 'retry.initialMs' || no_duration
    when not "carillon".is_absent_or_integer(retry -> 'maxMs', 0, max_ms) then 'retry.maxMs' || no_duration
    when (retry ->> 'initialMs')::numeric > (retry ->> 'maxMs')::numeric then 'retry.maxMs is shorter than retry.initialMs'
    when jsonb_typeof(retry -> 'factor') <> 'number' then 'retry.factor is not a number'
    when (retry ->> 'factor')::numeric not between 1 and 1000 then 'retry.factor is not from 1 to 1000'
    when retry ->> 'backoff' not in ('exponential', 'linear', 'fixed') then 'retry.backoff is not exponential, linear or fixed'
    when retry ->> 'jitter' not in ('full', 'equal', 'none') then 'retry.jitter is not full, equal or none'
    when jsonb_typeof(retry -> 'nonRetryable') <> 'array' then 'retry.nonRetryable is not a list of error names'
  end;
begin
  if fault is not null then
    raise exception 'policy: %', fault using errcode = '22023';
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION carillon.definition_key(namespace_id integer, schedule json, firing json, priority smallint, task text, queue text, labels jsonb, deadline_ms bigint)
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select encode(substr(sha256(convert_to(
    json_build_array(namespace_id, schedule, firing, priority, task, queue, labels, deadline_ms)::text, 'UTF8'
  )), 1, 16), 'hex')::uuid
$function$;

CREATE OR REPLACE FUNCTION carillon.enqueue(task text, payload json DEFAULT NULL::json, queue text DEFAULT 'default'::text, priority integer DEFAULT 4, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, delay interval DEFAULT NULL::interval, policy jsonb DEFAULT NULL::jsonb, labels jsonb DEFAULT NULL::jsonb, owner text DEFAULT NULL::text, dedupe_key text DEFAULT NULL::text, dedupe_on text DEFAULT NULL::text, dedupe_window interval DEFAULT NULL::interval, notify boolean DEFAULT false, namespace text DEFAULT 'default'::text, OUT run_id uuid, OUT is_new boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  name_pattern constant text := '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$';
  called_at constant timestamptz := clock_timestamp();
  due constant timestamptz := date_trunc('milliseconds', coalesce(enqueue.run_at, called_at + enqueue.delay, called_at));
  due_ms constant bigint := floor(extract(epoch from due) * 1000);
  is_deduped constant boolean := coalesce(enqueue.dedupe_key, enqueue.dedupe_on, enqueue.dedupe_window::text) is not null;
  deadline_in_ms constant bigint := enqueue.policy ->> 'deadlineMs';
  is_at_most_once constant boolean := coalesce(enqueue.policy ->> 'guarantee' = 'at_most_once', false);
  random_part constant text := replace(gen_random_uuid()::text, '-', '');
  namespace_number int;
  lane_number int;
  rank_number bigint;
  shard_number smallint;
  existing uuid;
  existing_counts boolean;
  has_key boolean;
begin
  if enqueue.task is null or enqueue.task !~ name_pattern then
    raise exception 'task % is not a name of letters, digits and _ . : / -', quote_nullable(enqueue.task) using errcode = '22023';
  elsif enqueue.queue is null or enqueue.queue !~ name_pattern then
    raise exception 'queue % is not a name of letters, digits and _ . : / -', quote_nullable(enqueue.queue) using errcode = '22023';
  elsif enqueue.priority is null or enqueue.priority not between 0 and 9 then
    raise exception 'priority % is not from 0 to 9', coalesce(enqueue.priority::text, 'null') using errcode = '22023';
  elsif enqueue.run_at is not null and enqueue.delay is not null then
    raise exception 'run_at and delay exclude each other' using errcode = '22023';
  elsif due < called_at - interval '24 hours' then
    raise exception 'run_at % is more than a day in the past', due using errcode = '22023';
  elsif enqueue.policy is not null and jsonb_typeof(enqueue.policy) <> 'object' then
    raise exception 'policy must be a JSON object' using errcode = '22023';
  elsif enqueue.labels is not null and jsonb_typeof(enqueue.labels) <> 'object' then
    raise exception 'labels must be a JSON object of texts' using errcode = '22023';
  elsif enqueue.dedupe_on not in ('ignore', 'replace', 'reject') then
    raise exception 'dedupe_on % is not one of ignore, replace, reject', quote_literal(enqueue.dedupe_on) using errcode = '22023';
  elsif length(enqueue.dedupe_key) > 200 then
    raise exception 'dedupe_key is longer than 200 characters' using errcode = '22023';
  elsif enqueue.dedupe_window < interval '1 millisecond' then
    raise exception 'dedupe_window must be at least 1 millisecond' using errcode = '22023';
  end if;

  perform "carillon".check_policy(enqueue.policy);

  select n.id into namespace_number from "carillon".namespace n where n.name = enqueue.namespace;
  if namespace_number is null then
    raise exception 'namespace % does not exist', quote_nullable(enqueue.namespace) using errcode = '22023';
  end if;

  lane_number := "carillon".ensure_gated_lane(
    "carillon".ensure_lane(namespace_number, enqueue.queue, enqueue.task, is_at_most_once, enqueue.policy -> 'requires'),
    enqueue.policy
  );
  select "carillon".rank_of(due_ms, enqueue.priority, q.order_kind, q.bound_ms, deadline_in_ms, t.expected_ms) into rank_number
  from "carillon".queue q
  left join "carillon".task_duration t
    on q.order_kind = 'sjf' and t.namespace_id = q.namespace_id and t.queue = q.name and t.task = enqueue.task
  where q.namespace_id = namespace_number and q.name = enqueue.queue;

  -- A UUIDv7: the time, the version, and the random part of a UUIDv4 with its variant.
  run_id := (lpad(to_hex(floor(extract(epoch from called_at) * 1000)::bigint), 12, '0') || '7' || substr(random_part, 14))::uuid;
  shard_number := (('x' || right(random_part, 6))::bit(24)::int % 1024)::smallint;
  is_new := true;

  if is_deduped then
    for round in 1 .. 100 loop
      select d.run_id,
             exists (select from "carillon".run r where r.id = d.run_id)
               or exists (select from "carillon".far_future_run f where f.namespace_id = d.namespace_id and f.id = d.run_id)
               or exists (
                 select from "carillon".job_due w join "carillon".job j on j.id = w.job_id
                 where w.job_id = d.run_id and w.runs_made = 0 and w.state in ('active', 'paused') and j.schedule ->> 'kind' = 'at'
               )
               or d.window_ms is not null and exists (
                 select from "carillon".run_history e
                 where e.id = d.run_id and e.finished_at > statement_timestamp() - d.window_ms * interval '1 millisecond'
               )
      into existing, existing_counts
      from "carillon".dedupe d
      where d.namespace_id = namespace_number and d.task = enqueue.task and d.key = coalesce(enqueue.dedupe_key, '');
      if existing_counts and enqueue.dedupe_on = 'reject' then
        raise exception 'run % already exists for task % and dedupe key %',
          existing, enqueue.task, quote_literal(coalesce(enqueue.dedupe_key, ''))
          using errcode = '23505';
      elsif existing_counts and enqueue.dedupe_on is distinct from 'replace' then
        run_id := existing;
        is_new := false;
        return;
      end if;
      insert into "carillon".dedupe as d (namespace_id, task, key, run_id, replaces, window_ms, created_at, check_at)
      values (namespace_number, enqueue.task, coalesce(enqueue.dedupe_key, ''), enqueue.run_id, existing,
              floor(extract(epoch from enqueue.dedupe_window) * 1000), clock_timestamp(),
              greatest(due, clock_timestamp()) + interval '1 minute')
      on conflict (namespace_id, task, key) do update
      set run_id = excluded.run_id, replaces = excluded.replaces, window_ms = excluded.window_ms,
          created_at = excluded.created_at, check_at = excluded.check_at
      where d.run_id = excluded.replaces;
      has_key := found;
      exit when has_key;
    end loop;
    if not has_key then
      raise exception 'too many concurrent calls use the dedupe key %', quote_literal(enqueue.dedupe_key) using errcode = '40001';
    end if;
    if existing_counts then
      -- The replaced run ends. far_future_run is searched first, because a run moves from there to run and never back.
      with ended as (
        delete from "carillon".far_future_run f where f.namespace_id = namespace_number and f.id = existing returning f.*
      )
      insert into "carillon".run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
        trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, finished_at)
      select e.id, e.id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.run_at, e.created_at, 'once',
             l.task, l.queue, e.payload, e.policy, e.labels, e.owner, 0, 0, 0, clock_timestamp()
      from ended e join "carillon".lane l on l.id = e.lane;
      -- A concurrent change of its job may turn the row into a planned run, and a concurrent fire a planned run into a row: the second
      -- pass finds the one that the first pass missed.
      for pass in 1 .. 2 loop
        with ended as (
          delete from "carillon".run r where r.id = existing and r.state <> 'running' returning r.*
        )
        insert into "carillon".run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
          trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at,
          attempts, version)
        select e.id, e.job_id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.nominal_at, e.created_at,
               e.trigger, e.task, e.queue, e.payload, e.policy, e.labels, e.owner, e.attempt, e.losses, e.fence, e.session_id,
               e.started_at, clock_timestamp(), e.attempts, e.version
        from ended e;
        exit when found;
        perform from "carillon".cancel_planned_runs(namespace_number, array[existing], 'cancelled_by_dedupe');
        exit when found;
      end loop;
    end if;
  end if;

  if due > called_at + interval '630 seconds' then
    insert into "carillon".far_future_run (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels,
                                         owner, deadline_at)
    values (enqueue.run_id, due, called_at, rank_number, namespace_number, lane_number, shard_number, enqueue.priority,
            coalesce(enqueue.payload, 'null'), nullif(enqueue.policy, '{}')::json, nullif(enqueue.labels, '{}'), enqueue.owner,
            due + deadline_in_ms * interval '1 millisecond');
  else
    insert into "carillon".run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                              trigger, task, queue, payload, policy, labels, owner, deadline_at)
    values (enqueue.run_id, enqueue.run_id, namespace_number, shard_number, lane_number,
            case when due <= called_at then 'queued' else 'scheduled' end, enqueue.priority, rank_number, due, due, called_at, 'once',
            enqueue.task, enqueue.queue, coalesce(enqueue.payload, 'null'), nullif(enqueue.policy, '{}')::json,
            nullif(enqueue.labels, '{}'), enqueue.owner, due + deadline_in_ms * interval '1 millisecond');
    -- Delivered with the commit. A scheduler scans its shards only every 15 s, so it is always notified of a short delay.
    if due > called_at and due <= called_at + interval '30 seconds' then
      perform pg_notify('carillon_hint', 'shards ' || shard_number);
    elsif enqueue.notify and due <= called_at then
      perform pg_notify('carillon_hint', format('lanes %s:%s', lane_number, rank_number));
    end if;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION carillon.ensure_gated_lane(lane_number integer, policy jsonb)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  source_lane "carillon".lane;
  gated int;
begin
  if policy is null or not policy ?| array['concurrency', 'rateLimit', 'ordering'] then
    return lane_number;
  end if;
  select l.* into source_lane from "carillon".lane l where l.id = lane_number;
  if source_lane.kind in ('strict', 'strict_once') then
    raise exception 'queue % is strict and allows no other limits', quote_literal(source_lane.queue) using errcode = '22023';
  end if;
  select l.id into gated from "carillon".lane l
  where l.queue = source_lane.queue and l.task = source_lane.task and l.kind = 'gated' and l.requires = source_lane.requires;
  if gated is null then
    insert into "carillon".lane (queue, task, kind, requires)
    select source_lane.queue, source_lane.task, k.kind, source_lane.requires from (values ('admitted'), ('gated')) as k (kind)
    on conflict (queue, task, kind, requires) do nothing;
    select l.id into gated from "carillon".lane l
    where l.queue = source_lane.queue and l.task = source_lane.task and l.kind = 'gated' and l.requires = source_lane.requires;
  end if;
  return gated;
end
$function$;

CREATE OR REPLACE FUNCTION carillon.ensure_lane(namespace_number integer, queue_name text, task_name text, is_at_most_once boolean, wanted_labels jsonb)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  is_strict boolean;
  lane_kind text;
  lane_number int;
  requirement constant text := coalesce(
    (select string_agg(r.key || '=' || r.value, E'\n' order by r.key collate "C") from jsonb_each_text(wanted_labels) r), ''
  );
begin
  if starts_with(queue_name, 'carillon:') then
    raise exception 'queue % begins with carillon:, which is reserved; choose another name', quote_literal(queue_name)
      using errcode = '22023';
  elsif starts_with(task_name, 'carillon:') then
    raise exception 'task % begins with carillon:, which is reserved; choose another name', quote_literal(task_name)
      using errcode = '22023';
  end if;
  select q.order_kind = 'strict' into is_strict from "carillon".queue q
  where q.namespace_id = namespace_number and q.name = queue_name;
  if is_strict is null then
    insert into "carillon".queue (namespace_id, name) values (namespace_number, queue_name)
    on conflict (namespace_id, name) do nothing;
    select q.order_kind = 'strict' into is_strict from "carillon".queue q
    where q.namespace_id = namespace_number and q.name = queue_name;
  end if;
  lane_kind := case
    when is_strict and is_at_most_once then 'strict_once'
    when is_strict then 'strict'
    when is_at_most_once then 'solo'
    else 'plain'
  end;
  select l.id into lane_number from "carillon".lane l
  where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  if lane_number is null then
    insert into "carillon".lane (queue, task, kind, requires)
    select queue_name, task_name, k.kind, requirement
    from (values ('lost'), ('plain'), ('solo'), ('strict'), ('strict_once')) as k (kind)
    where k.kind = lane_kind or not is_strict and k.kind in ('lost', 'plain', 'solo')
    on conflict (queue, task, kind, requires) do nothing;
    select l.id into lane_number from "carillon".lane l
    where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  end if;
  return lane_number;
end
$function$;

CREATE OR REPLACE FUNCTION carillon.insert_dependency_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into "carillon".dependency_event (job_id, position, shard, run_id, ended_at)
  select d.job_id, d.position, d.shard, old.id, clock_timestamp()
  from "carillon".dependency d
  where d.upstream_id = old.job_id
  on conflict do nothing;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION carillon.insert_run_notice()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into "carillon".run_notice (run_id, namespace_id, ended_at)
  select new.id, new.namespace_id, new.finished_at
  where new.policy -> 'callbacks' is not null
     or exists (select from "carillon".webhook w where w.namespace_id = new.namespace_id and w.is_enabled)
  on conflict do nothing;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION carillon.is_absent_or_integer(value jsonb, lowest numeric, highest numeric)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case
    when value is null then true
    when jsonb_typeof(value) <> 'number' then false
    else (value #>> '{}')::numeric between lowest and highest and (value #>> '{}')::numeric % 1 = 0
  end
$function$;

CREATE OR REPLACE FUNCTION carillon.lower_cluster_level(level integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform from "carillon".setting where name = 'cluster_level' for update;
  if exists (select from "carillon".node where heartbeat_at > clock_timestamp() - interval '1 minute') then
    raise exception 'A node of this cluster wrote its heartbeat less than a minute ago. Stop all nodes first.'
      using errcode = 'object_in_use';
  end if;
  update "carillon".setting set value = least(value::int, lower_cluster_level.level)::text where name = 'cluster_level';
end;
$function$;

CREATE OR REPLACE FUNCTION carillon.rank_of(due_ms bigint, priority integer, order_kind text, bound_ms bigint, deadline_in_ms bigint, expected_ms double precision)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case order_kind
    when 'strict' then (9 - priority) * 17592186044416 + least(greatest(due_ms, 0), 17592186044415)
    when 'fifo' then due_ms
    when 'edf' then due_ms + case when deadline_in_ms > 0 or deadline_in_ms is null
      then least(deadline_in_ms, coalesce(bound_ms, 86400000)) else 0 end
    when 'sjf' then due_ms + floor(least(greatest(coalesce(expected_ms, 0) * 10, 0), coalesce(bound_ms, 5400000)) + 0.5)::bigint
    else due_ms + coalesce(bound_ms, 5400000) * 4 / 9 - coalesce(bound_ms, 5400000) * priority / 9
  end
$function$;

CREATE OR REPLACE FUNCTION carillon.refuse_ended(ids uuid[], since timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from "carillon".run_history
    where id = any (ids) and finished_at >= since and finished_at < statement_timestamp() + interval '1 day'
  ) then
    raise unique_violation using message = 'A run with this id has ended.';
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION carillon.refuse_older_node()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  level_in_use int;
begin
  select value::int into level_in_use from "carillon".setting where name = 'cluster_level' for share;
  if new.level < level_in_use then
    raise exception 'The nodes of this cluster use feature level %, and version % of Carillon supports only level %.',
      level_in_use, new.version, new.level
      using errcode = 'object_not_in_prerequisite_state',
        hint = 'Start a newer version. To go back to this one, stop all nodes and run: select carillon.lower_cluster_level(' || new.level || ');';
  end if;
  return new;
end;
$function$;

CREATE OR REPLACE FUNCTION carillon.update_definition_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update "carillon".job_due
  set defined_at = coalesce(new.defined_at, new.created_at),
      definition = "carillon".definition_key(
        new.namespace_id, new.schedule, new.firing, new.priority, new.task, new.queue, new.labels, new.deadline_ms
      )
  where job_id = new.id;
  return null;
end
$function$;

CREATE TRIGGER job_redefined AFTER UPDATE OF schedule, firing, priority, task, queue, labels, policy, created_at, defined_at ON carillon.job FOR EACH ROW EXECUTE FUNCTION update_definition_key();

CREATE TRIGGER node_level BEFORE INSERT ON carillon.node FOR EACH ROW EXECUTE FUNCTION refuse_older_node();

CREATE TRIGGER run_ended AFTER DELETE ON carillon.run FOR EACH ROW WHEN (old.has_downstream) EXECUTE FUNCTION insert_dependency_events();

CREATE TRIGGER run_not_succeeded AFTER INSERT ON carillon.run_history FOR EACH ROW WHEN (((new.status <> 'succeeded'::text) AND (new.trigger !~~ 'callback%'::text))) EXECUTE FUNCTION insert_run_notice();

comment on column carillon.node.level is 'the feature level that its version supports';

comment on column carillon.worker_session.fence_floor is 'the high part of the fences that claims for it get: of the history of the database in which it was opened';
