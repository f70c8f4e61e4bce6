-- The initial schema. It is written for a schema named carillon; the migration runner puts the configured name in its place.
-- A later change is a new file beside this one: a released migration is never edited, because its checksum is recorded.
--
-- Order: tables by component, then functions, then triggers. packages/store/schema.sql is the dump of the result.
--
-- Words
--   hot             rows are written for each run. Such a table is narrow and has few indexes, most of them partial: an index that only
--                   a search or a rescue needs would be paid for by every run.
--   cold            rows are written when a user or an operator changes something, or once, when a run ends.
--   owner of a shard  the node that fires and moves the jobs and runs of that shard (table shard). Its writes compare the epoch.
--   fence           the number of a claim of a run. It grows with each claim; each later write of that claim compares it.
--   nominal instant the instant that a schedule names, before jitter and maintenance windows move it.
--   json            a document that is stored and returned as it was sent; jsonb: one that SQL searches or changes.
--
-- Columns that mean the same in every table
--   namespace_id    the tenant. The most frequent writes have no foreign key: it would lock the namespace's row once per run.
--   shard           the slice, 0 to 1023, whose owner works on the row; derived from the id.
--   version         grows with each change of a row that users edit; an update may name the version that it expects.
--   revision        grows over all rows of a table, so that nodes read only the rows that changed since their last read.
--   trace           {"traceparent", "tracestate"} of the request, passed on to the runs that it causes.
--   state_reason    why the row is in its state: a short code, sometimes followed by details.
--
-- Encoded values
--   lane.kind       plain         runs may be assigned before a slot is free and wait at the worker
--                   solo          only to a free slot, with the start recorded by the claim: at-most-once runs, and runs that lost a worker
--                   lost          as solo, and one at a time per worker: runs that lost several workers
--                   strict        runs of a strict queue, one at a time over all workers
--                   strict_once   as strict, for at-most-once runs
--                   gated         runs whose limits are not resolved yet; no worker is served from this lane
--                   admitted      as solo; runs that hold the limits they need
--   lane.requires   the labels that a worker must have, as sorted "name=value" lines; empty for none
--   run.stage       which partial index of run holds the row: 1 queued or running, 2 scheduled or retrying, 3 blocked.
--                   A claim changes the state but not the stage, and so no index entry.
--   run.rank        the place in the lane, smallest first: the due time in ms minus a boost, by the order of the queue (rank_of)
--   run.limits      one line per limit after a first line that names the gate: "g:<hash>" for runs with the same queue and limits,
--                   "o:<namespace id>:<key>" for an ordering key. null: no limits.
--   run.trigger     what caused the run: "schedule", "once", or a kind with an id, such as "run_now:<id>" or "backfill:<id>"
--   run.session_id  all zeros while a run waits for a callback: it is running, and no worker holds it
--   job_due.class   the urgency in which due jobs fire: 0 for priorities 7 to 9, 1 for 3 to 6, 2 for 0 to 2
--   queue.order_kind  priority, fifo, edf (earliest deadline first), sjf (shortest job first), strict (one run at a time, in order)
--   seat            is not stored: in the answer of a claim, the index of the session that gets the run

------------------------------------------------------------------------------------------------------------------------------------
-- Cluster-wide values. Read by every node when it starts or when a revision has grown.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per value that all nodes must agree on. shards: how many there are. database_timeline: of the database in which the shards
-- were last owned, written by the cluster component; another one shows a failover, a restore or a clone, and voids all leases.
create table carillon.setting (
  name text primary key,
  value text not null
);

-- Cold. One row per secret that all nodes share, made here and never changed. direct_dispatch: the key of the notices that nodes
-- exchange through NOTIFY, which every database user may listen to.
create table carillon.secret (
  name text primary key,
  value bytea not null
);

-- Cold. One counter per kind of object that nodes cache: maintenance windows, calendars, limits of queues and namespaces. The change
-- increments it in its own transaction. A fire compares windows, a claim compares limits.
create table carillon.revision (
  name text primary key,
  value bigint not null default 0
);

------------------------------------------------------------------------------------------------------------------------------------
-- Catalog: namespaces, queues, tasks, lanes. Cached by every node.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per tenant, written by the namespace API.
create table carillon.namespace (
  id int generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now(),
  limits json,                                      -- concurrency and rate of the whole namespace; null: none
  weight int not null default 1,                    -- share of the workers that serve several namespaces
  version int not null default 1,
  updated_at timestamptz not null default now(),
  check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  check (weight between 1 and 1000)
);

-- Cold, except the slot of a strict queue. One row per queue, inserted by its first job or run and changed by the queue API.
create table carillon.queue (
  namespace_id int not null references carillon.namespace (id),
  name text not null,
  order_kind text not null default 'priority',
  bound_ms bigint,                                  -- how far the order may move a run ahead of its due time; null: the default
  pause json,                                       -- who paused the queue, why and until when; null: not paused
  version int not null default 1,
  revision bigint not null generated by default as identity,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  slot_run_id uuid,                                 -- strict queues: the claim that holds the one slot, by run and fence;
  slot_fence bigint,                                --   the slot is free when that claim is over
  slot_version bigint not null default 0,           -- grows with each claim of the slot
  limits json,                                      -- concurrency and rate of the whole queue; null: none
  paused_until timestamptz,                         -- the end of the pause, for the index
  primary key (namespace_id, name),
  check (order_kind in ('priority', 'fifo', 'edf', 'sjf', 'strict')),
  check (bound_ms >= 0)
);
-- Nodes read the queues that changed since their last read.
create index queue_revision on carillon.queue (revision);
-- Nodes read which queues have limits.
create index queue_limited on carillon.queue (namespace_id, name) where limits is not null;
-- The queue component ends expired pauses.
create index queue_paused on carillon.queue (paused_until) where paused_until is not null;

-- Cold. One row per task with defaults for its runs (timeout, retries and so on), inserted when a worker first declares some.
create table carillon.task (
  namespace_id int not null references carillon.namespace (id),
  name text not null,
  defaults json not null,
  revision bigint not null generated by default as identity,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (namespace_id, name)
);
-- Nodes read the tasks that changed since their last read.
create index task_revision on carillon.task (revision);

-- Cold. The expected duration of a task's runs in a queue: a running average that nodes write every few seconds. The sjf order ranks
-- runs by it.
create table carillon.task_duration (
  namespace_id int not null,
  queue text not null,
  task text not null,
  expected_ms double precision not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (namespace_id, queue, task)
);

-- Cold: never changed, never removed. What a worker must be able to do, folded into one number, so that the claim's index begins with
-- one column. Inserted with the first run that needs it; the kinds between which a run may move are inserted together.
create table carillon.lane (
  id int generated always as identity primary key,
  queue text not null,
  task text not null,
  kind text not null default 'plain',
  requires text not null default '',
  unique (queue, task, kind, requires),
  check (kind in ('plain', 'solo', 'lost', 'strict', 'strict_once', 'gated', 'admitted'))
);

------------------------------------------------------------------------------------------------------------------------------------
-- Jobs. A one-off job without a key is only a row of run or far_future_run, under the job's id; every other job is a row of job and one of
-- job_due.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per stored job: its definition. Written by the jobs API and never by a fire.
create table carillon.job (
  id uuid primary key,
  namespace_id int not null,
  shard smallint not null,
  lane int not null,
  key text,                                         -- the caller's name for the job; unique among the jobs that have not ended
  task text not null,
  queue text not null,
  priority smallint not null,
  payload json,
  schedule json not null,
  policy json,                                      -- timeout, retries, guarantee and so on; null: the defaults
  labels jsonb not null default '{}',
  owner text,                                       -- the team or person that the job belongs to
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  firing json,                                      -- misfire, overlap and catch-up policies; null: the defaults
  defined_at timestamptz,                           -- since when this definition is in force; null: since created_at
  pause json,                                       -- who paused the job, why and until when; null: not paused
  ended_at timestamptz,                             -- when the job was cancelled; its key is free again
  deadline_ms bigint generated always as ((policy ->> 'deadlineMs')::bigint) stored,  -- so that a fire need not read JSON
  has_downstream boolean,                           -- true: other jobs start after this one; null: none
  check (priority between 0 and 9)
);
-- The job with a key, and the uniqueness of keys.
create unique index job_live_key on carillon.job (namespace_id, key) where key is not null and ended_at is null;
-- The newest ended job that had a key.
create index job_ended_key on carillon.job (namespace_id, key, id) where key is not null and ended_at is not null;
-- The list of jobs: all, and by each filter. A page reads along the index that the planner expects to give the fewest rows.
create index job_by_namespace on carillon.job (namespace_id, id);
create index job_owner on carillon.job (namespace_id, owner, id) where owner is not null;
create index job_labels on carillon.job using gin (labels);
create index job_task on carillon.job (namespace_id, task, id);
create index job_queue on carillon.job (namespace_id, queue, id);

-- Hot. One row per stored job: when it fires next and what it has fired. The only row of a job that a fire updates; its lock orders
-- every change of the job and every run that the job makes.
create table carillon.job_due (
  job_id uuid primary key,
  namespace_id int not null,
  shard smallint not null,
  class smallint not null,
  state text not null,
  version int not null,                             -- as in job; a fire compares it
  next_nominal_at timestamptz,                      -- the next nominal instant; null: none, or paused
  next_fire_at timestamptz,                         -- when it fires; of a paused job the end of its pause
  fired_through timestamptz,                        -- nominal instants up to here are done
  fired_count int not null default 0,               -- occurrences that became runs, against max_runs
  max_runs int,                                     -- the job is complete after so many; null: no bound
  state_reason text,                                -- 'held <revision>': an occurrence waits for the end of a maintenance window
  overlap text not null default 'skip',
  runs_made bigint not null default 0,              -- grows with each run of the job, so that a fire notices a stale cache
  run_ids uuid[] not null default '{}',             -- the runs that may be live, the newest last; the newest stays when it ended
  ledger_from timestamptz,                          -- start and reason of the ledger entry (table occurrence) that still grows
  ledger_reason text,
  catch_up_to timestamptz,                          -- occurrences up to here fire however late they are
  defined_at timestamptz not null default now(),    -- since when the definition is in force
  definition uuid,                                  -- definition_key of the job; jobs with the same key are read in one row
  check (state in ('active', 'paused', 'completed', 'cancelled')),
  check (overlap in ('allow', 'skip', 'queue_one', 'queue_all', 'cancel_running')),
  constraint job_due_next_check check (
    case state
      when 'active' then (next_nominal_at is null) = (next_fire_at is null)
      when 'paused' then next_nominal_at is null
      else next_fire_at is null and next_nominal_at is null
    end
  ),
  constraint job_due_order_check check (next_fire_at >= next_nominal_at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);
-- The scheduler reads the jobs of its shards that are due soon, and paused jobs whose pause ends; the forecast counts them.
create index job_due_time on carillon.job_due (shard, class, next_fire_at) where next_fire_at is not null;
-- The scheduler releases held occurrences when a maintenance window changes.
create index job_due_held on carillon.job_due (shard) where state_reason is not null;

-- Cold. One row per definition that was replaced; the current one is in job. Written by the change that replaces it. Backfills and
-- late occurrences use the definition of their time.
create table carillon.job_version (
  job_id uuid not null,
  namespace_id int not null,
  version int not null,                             -- the last version that had this definition
  definition json not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  replaced_by text,                                 -- the caller that replaced it
  primary key (job_id, version)
);

-- Cold. The ledger: one row per range of nominal instants that did not become a run as usual, with the reason. The last range of a
-- job grows while the reason repeats. Written by fires, by changes of jobs and by backfills.
create table carillon.occurrence (
  job_id uuid not null,
  namespace_id int not null,
  version int not null,
  reason text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  count bigint not null,
  recorded_at timestamptz not null,
  detail text,
  primary key (job_id, from_at, version, reason),   -- in the order of a page of the job's ledger
  constraint occurrence_range_check check (to_at >= from_at),
  check (count > 0)
);

------------------------------------------------------------------------------------------------------------------------------------
-- Live runs. Moved to run_history in the statement that ends them.
------------------------------------------------------------------------------------------------------------------------------------

-- Hot. One row per live run near its time; a one-off job without a key is this row alone. Inserted by fires, enqueues and retries of
-- dead letters, updated by claims, deleted by completions.
create table carillon.run (
  id uuid primary key,
  job_id uuid,                                      -- equals id for a one-off job; null for a run that belongs to no job
  namespace_id int not null,
  shard smallint not null,
  lane int not null,
  state text not null,
  priority smallint not null,
  rank bigint not null,
  run_at timestamptz not null,                      -- from when it may start; a retry moves it
  nominal_at timestamptz not null,
  created_at timestamptz not null,
  trigger text not null,
  task text not null,
  queue text not null,
  payload json,
  policy json,                                      -- as in job
  labels jsonb,
  owner text,
  attempt smallint not null default 0,              -- attempts that ended and count against the retry policy
  losses smallint not null default 0,               -- workers that died with the run
  fence bigint not null default 0,
  session_id uuid,                                  -- the worker session that holds it
  claimed_at timestamptz,
  started_at timestamptz,                           -- null while a claimed run waits at the worker: losing it then costs no attempt
  state_reason text,
  attempts jsonb,                                   -- the attempts that ended: times, errors
  version int,                                      -- the version of the job's definition that it was made from
  untracked boolean not null default false,         -- its job lets runs overlap, so job_due.run_ids does not list it
  serial boolean not null default false,            -- its job lets runs wait for one another: its end may free the next
  cancel_reason text,                               -- the worker is asked to stop it
  stage smallint not null generated always as (
    case when state in ('queued', 'running') then 1 when state in ('scheduled', 'retrying') then 2 else 3 end
  ) stored,
  deadline_at timestamptz,                          -- the run fails if it has not ended by then; null: no deadline
  limits text,
  has_downstream boolean,                           -- true: its end starts other jobs, see the trigger run_ended; null: it does not
  check (state in ('scheduled', 'queued', 'blocked', 'running', 'retrying')),
  constraint run_session_check check ((state = 'running') = (session_id is not null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
        -- Half of each page is left free, so that the row version that a claim writes stays on its page and changes no index.
        fillfactor = 50);
-- The claim: the first queued runs of a lane and namespace, by rank.
create index run_claim on carillon.run (lane, namespace_id, rank) where stage = 1;
-- The scheduler reads delayed and retrying runs of its shards that are due soon.
create index run_due on carillon.run (shard, run_at) where stage = 2;
-- Runs that wait for another run of their job.
create index run_blocked on carillon.run (shard, id) where stage = 3 and serial;
-- Runs that wait behind a gate, in the order of admission: by rank, or by nominal instant behind an ordering key.
create index run_gate on carillon.run (split_part(limits, E'\n', 1), rank, id) where stage = 3 and limits is not null;
create index run_gate_order on carillon.run (split_part(limits, E'\n', 1), nominal_at, id) where stage = 3 and limits like 'o:%';
-- Live runs of jobs that let them overlap.
create index run_untracked on carillon.run (job_id) where untracked;
-- Runs whose deadline has passed. A claim changes none of these columns.
create index run_deadline on carillon.run (deadline_at) where deadline_at is not null;

-- Samples of this table are outdated within minutes, and its plans follow from its indexes. Autovacuum analyses it many times an hour
-- under load, so it samples a tenth of the usual rows, and nothing of columns that no condition names.
alter table carillon.run
  alter column id set statistics 0,
  alter column job_id set statistics 10,
  alter column namespace_id set statistics 10,
  alter column shard set statistics 10,
  alter column lane set statistics 10,
  alter column state set statistics 10,
  alter column priority set statistics 0,
  alter column rank set statistics 0,
  alter column run_at set statistics 10,
  alter column nominal_at set statistics 0,
  alter column created_at set statistics 0,
  alter column trigger set statistics 0,
  alter column task set statistics 10,
  alter column queue set statistics 10,
  alter column payload set statistics 0,
  alter column policy set statistics 0,
  alter column labels set statistics 0,
  alter column owner set statistics 0,
  alter column attempt set statistics 0,
  alter column losses set statistics 0,
  alter column fence set statistics 0,
  alter column session_id set statistics 10,
  alter column claimed_at set statistics 0,
  alter column started_at set statistics 0,
  alter column state_reason set statistics 0,
  alter column attempts set statistics 0,
  alter column version set statistics 0,
  alter column untracked set statistics 10,
  alter column serial set statistics 10,
  alter column cancel_reason set statistics 0,
  alter column stage set statistics 10,
  alter column deadline_at set statistics 0,
  alter column limits set statistics 0,
  alter column has_downstream set statistics 0;
alter index carillon.run_gate alter column 1 set statistics 10;
alter index carillon.run_gate_order alter column 1 set statistics 10;

-- Hot. One row per one-off job whose time is more than 10.5 minutes away: narrow, and out of the way of run until shortly before it
-- is due. Inserted by enqueues, moved to run by the scheduler, never back. There job_id is id, nominal_at is run_at, the trigger is
-- 'once', and task and queue are those of the lane.
create table carillon.far_future_run (
  id uuid not null,
  run_at timestamptz not null,
  created_at timestamptz not null,
  rank bigint not null,
  namespace_id int not null,
  lane int not null,
  shard smallint not null,
  priority smallint not null,
  payload json,
  policy json,
  labels jsonb,
  owner text,
  deadline_at timestamptz,
  primary key (namespace_id, id)                    -- the namespace first: a list of a small one must not walk the rows of a large one
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 50000);
-- The scheduler moves the runs of its shards that are due soon.
create index far_future_run_due on carillon.far_future_run (shard, run_at);

-- Hot, only for runs whose handler saves a checkpoint or reports progress. One row per run, over all its attempts, written in batches
-- by the gateway. The latest value stays: by the fence of the claim, then by a number that grows within it.
create table carillon.run_progress (
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

-- Hot, only for runs with steps. One row per finished step of a run; a step with a row is not executed again.
create table carillon.run_step (
  run_id uuid not null,
  name text not null,
  namespace_id int not null,
  fence bigint not null,
  result json not null,
  created_at timestamptz not null,
  primary key (run_id, name)
);

-- Hot, only for handlers that use it. One row per effect that happens once in a namespace, whichever run causes it. Without a result,
-- run_id and fence name the claim that is executing it; the row counts as long as that claim lasts.
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
  constraint once_ended_check check ((result is null) = (ended_at is null))
);
-- The retention removes expired rows.
create index once_expiry on carillon.once (expires_at);

-- Hot, only for runs that log; append-only. One row per log line, one partition per day, created and dropped by the nodes. A line
-- that was sent twice is stored twice and shown once.
create table carillon.run_log (
  run_id uuid not null,
  fence bigint not null,
  number int not null,                              -- grows within a claim
  namespace_id int not null,
  logged_at timestamptz not null,
  level text not null check (level in ('debug', 'info', 'warn', 'error')),
  message text not null,
  fields json
) partition by range (logged_at);
-- The lines of a run.
create index run_log_run on carillon.run_log (run_id, fence, number);

------------------------------------------------------------------------------------------------------------------------------------
-- History: finished runs, dead letters, groups of errors.
------------------------------------------------------------------------------------------------------------------------------------

-- Append-only. One row per finished run, one partition per day by finished_at, created and dropped by the nodes. Columns as in run.
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
  version int,
  fingerprint text,                                 -- of the error that ended the run: its row of error_group
  check (status in ('succeeded', 'failed', 'cancelled', 'skipped'))
) partition by range (finished_at);
-- A run by id, and the list of all runs.
create index run_history_id on carillon.run_history (id);
-- The runs of a job. The first run of a one-off job has the job's id and is found by that, so most runs need no entry here.
create index run_history_job on carillon.run_history (job_id, id) where job_id <> id;
-- The list of runs by each filter. A run that succeeded and has no owner or labels is only in the index by task.
create index run_history_task on carillon.run_history (namespace_id, task, id);
create index run_history_owner on carillon.run_history (namespace_id, owner, id) where owner is not null;
create index run_history_labels on carillon.run_history using gin (labels) where labels is not null;
create index run_history_not_run on carillon.run_history (namespace_id, id) where status in ('cancelled', 'skipped');
-- Runs that a person requested, rare beside those of schedules and programs.
create index run_history_requested on carillon.run_history (namespace_id, id)
  where split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay');
-- Failed runs; dead letters are those without a row of redrive.
create index run_history_failed on carillon.run_history (namespace_id, id) where status = 'failed';

-- Cold. One row per action on a finished run. A dead letter is retried or discarded once; any finished run may be replayed repeatedly.
create table carillon.redrive (
  number bigint generated always as identity primary key,
  run_id uuid not null,
  namespace_id int not null,
  kind text not null check (kind in ('retry', 'replay', 'discard')),
  new_run_id uuid,
  actor text,
  created_at timestamptz not null,
  constraint redrive_new_run_check check ((kind = 'discard') = (new_run_id is null))
);
-- Lets one of two concurrent retries win.
create unique index redrive_once on carillon.redrive (run_id) where kind <> 'replay';
-- The actions on a run, in order.
create index redrive_by_run on carillon.redrive (run_id);

-- Cold. One row per group of errors with the same fingerprint: type, message without numbers, innermost functions. Written in batches
-- by each node every few seconds, never by the transaction that ends a run.
create table carillon.error_group (
  namespace_id int not null,
  fingerprint text not null,
  type text not null,
  message text not null,
  tasks text[] not null,
  count bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  sample_run_id uuid not null,
  primary key (namespace_id, fingerprint)
);
-- The list of groups, latest first.
create index error_group_seen on carillon.error_group (namespace_id, last_seen_at, fingerprint);

------------------------------------------------------------------------------------------------------------------------------------
-- Limits: concurrency, rate and ordering keys. A run with limits waits behind its gate (run.limits) until an admission, which locks the
-- rows of limit_key in the order of their ids, lets it hold all of them.
------------------------------------------------------------------------------------------------------------------------------------

-- Hot, only for runs with limits. One row per limit in use. Inserted by the first run or setting that names it, updated by each
-- admission, removed when it is idle.
create table carillon.limit_key (
  id bigint generated always as identity primary key,
  namespace_id int not null,
  scope text not null,                              -- what the limit belongs to; key: a name that runs give
  kind text not null,
  name text not null,
  max_count int not null,                           -- how many at once, or per per_ms
  per_ms bigint,                                    -- rate: the length of its window
  burst int,                                        -- rate: how many may start at once
  on_failure text,                                  -- ordering key: what a failed run does to the runs behind it
  is_fixed boolean not null default false,          -- an operator set it: the values that runs give are ignored
  defined_at timestamptz not null,                  -- when the run was made whose values are in force: newer runs override older ones
  used int not null default 0,                      -- how many rows of limit_hold it has
  starts bigint[] not null default '{}',            -- rate: pairs of an instant in ms and how many started then
  stopped_by uuid,                                  -- ordering key: the failed run that stops the runs behind it
  swept_at timestamptz,                             -- when all its holders were last checked
  used_at timestamptz not null default clock_timestamp(),
  is_counted boolean not null default true,         -- false: set while runs were at work, and full until they are counted
  unique (namespace_id, scope, kind, name),
  check (scope in ('key', 'task', 'job', 'queue', 'namespace')),
  check (kind in ('concurrency', 'rate', 'order')),
  check (max_count >= 0),
  check (used >= 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
-- The sweep reads the limits that are held.
create index limit_key_held on carillon.limit_key (id) where used > 0;

-- Hot, only for runs with limits. One row per limit that a run holds. The run's own row is authoritative: a run that ended holds
-- nothing, even while its row is still here.
create table carillon.limit_hold (
  limit_id bigint not null,
  run_id uuid not null,
  fence bigint not null,                            -- of the run when it was admitted; its claim has the next. Ordering keys: always 0
  gate text not null,
  admitted_at timestamptz not null,
  primary key (limit_id, run_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- What a run holds, when it ends.
create index limit_hold_run on carillon.limit_hold (run_id);

------------------------------------------------------------------------------------------------------------------------------------
-- Cluster: nodes, shards, worker sessions. Small tables that are updated every second or so.
------------------------------------------------------------------------------------------------------------------------------------

-- One row per running node process. Inserted when it starts, updated by its heartbeat, deleted when it stops or when another node has
-- seen the same heartbeat for too long.
create table carillon.node (
  id uuid primary key,                              -- of this start of the process
  name text not null,
  address text,
  version text not null,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  skew_ms int not null default 0,                   -- its clock minus the database's
  takes_shards boolean not null default true        -- false: its clock is off beyond its tolerance
);

-- One row per shard, all inserted here. The lease of a shard is its owner and epoch; every write of an owner takes a share lock on the
-- row and compares both.
create table carillon.shard (
  id smallint primary key,
  owner uuid,                                       -- the node; null: free
  epoch bigint not null default 0                   -- grows with each change of owner
) with (fillfactor = 50);

-- One row per worker that polls. Inserted when it registers, updated by its heartbeat, deleted when it leaves or its heartbeat stays
-- the same for too long; its runs are then rescued. A claim takes a key share lock on it.
create table carillon.worker_session (
  id uuid primary key,
  namespace_id int not null,
  name text not null,
  queues text[] not null,
  tasks text[] not null,
  slots int not null,
  node_id uuid,                                     -- the process that it lives in, for a worker inside a node; null: a remote one
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  gateway_id uuid,                                  -- the node that claims for it; another node takes over under the row's lock
  state text not null default 'active',             -- set by operators. cordoned: no more runs; draining: it must end; leaving: at once
  labels jsonb not null default '{}',               -- runs that require labels are assigned only to workers that have them
  versions jsonb not null default '{}',             -- the versions of its tasks
  weights jsonb not null default '{}',              -- how many slots the runs of its tasks take
  is_spot boolean not null default false,           -- its machine may disappear at any time
  namespaces text[],                                -- the namespaces that it serves, by name, '*' for all; null: its own
  limits_revision bigint not null default 0,        -- a claim for it must know the limits of queues and namespaces as of this revision
  check (state in ('active', 'cordoned', 'draining', 'leaving'))
);

------------------------------------------------------------------------------------------------------------------------------------
-- Calendars and maintenance windows. Cold, cached by every node; a change increments its revision.
------------------------------------------------------------------------------------------------------------------------------------

-- One row per calendar, written by the calendar API.
create table carillon.calendar (
  id int generated always as identity primary key,
  namespace_id int not null,
  name text not null,
  version int not null default 1,
  definition json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (namespace_id, name)
);

-- One row per replaced definition of a calendar: occurrences that were due under it are decided by it.
create table carillon.calendar_version (
  calendar_id int not null,
  version int not null,
  definition json not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  primary key (calendar_id, version)
);

-- One row per job and calendar that its schedule uses, with the version that the job's next time was computed with.
create table carillon.job_calendar (
  job_id uuid not null,
  calendar_id int not null,
  shard smallint not null,
  seen_version int not null,
  primary key (job_id, calendar_id)
);
-- The jobs that use a calendar, and those that are behind its version.
create index job_calendar_by_calendar on carillon.job_calendar (calendar_id, seen_version);

-- One row per maintenance window, written by its API. A fire compares the revision of all windows.
create table carillon.maintenance_window (
  id int generated always as identity primary key,
  namespace_id int not null,
  name text not null,
  definition json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (namespace_id, name)
);

------------------------------------------------------------------------------------------------------------------------------------
-- Dependencies: jobs that start after the runs of others. Other jobs and their runs touch none of this.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per upstream of a job, written with the job. met_*: the latest run of the upstream that fits, since the job last fired.
create table carillon.dependency (
  job_id uuid not null,                             -- the downstream job
  position smallint not null,
  namespace_id int not null,
  shard smallint not null,                          -- of the downstream job
  upstream_id uuid not null,
  on_status text not null,
  condition text,                                   -- a CEL expression over the upstream's run; null: always true
  met_run_id uuid,
  met_at timestamptz,
  seen_at timestamptz,                              -- the end of the latest upstream run that was considered, whether it fits or not
  primary key (job_id, position),
  check (on_status in ('success', 'failure', 'finish')),
  constraint dependency_met_check check ((met_run_id is null) = (met_at is null))
);
-- The jobs that start after a job: when it is changed, and when one of its runs ends (trigger run_ended).
create index dependency_upstream on carillon.dependency (upstream_id);

-- Hot, only for runs of upstream jobs. One row per end of an upstream run that a downstream job has not processed yet. Inserted by the
-- transaction that ends the run (trigger run_ended), deleted by the one that processes it.
create table carillon.dependency_event (
  number bigint generated always as identity,       -- the order of the ends
  job_id uuid not null,                             -- the downstream job
  position smallint not null,
  shard smallint not null,                          -- of the downstream job
  run_id uuid not null,
  ended_at timestamptz not null,
  deferred boolean not null default false,          -- the downstream job is paused; its resume decides
  primary key (job_id, position, run_id)
);
-- The owner of a shard reads the events that it has to process.
create index dependency_event_open on carillon.dependency_event (shard, number) where not deferred;

------------------------------------------------------------------------------------------------------------------------------------
-- Backfills and operations: long work that the owner of the shard does step by step.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per request to make the runs of a past range of a job's schedule; updated by each step.
create table carillon.backfill (
  id uuid primary key,
  job_id uuid not null,
  namespace_id int not null,
  shard smallint not null,
  state text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  through_at timestamptz,                           -- nominal instants up to here are done; null: none
  next_step_at timestamptz not null,
  per_second real not null,                         -- how many runs it makes per second,
  concurrency int not null,                         --   and how many of them may be live at once
  repeats boolean not null,                         -- also instants that have a run already
  force boolean not null,                           -- without regard to the job's overlap policy
  total bigint not null,                            -- instants in the range
  made bigint not null default 0,                   -- instants that became runs
  passed bigint not null default 0,                 -- instants left out because they have a run already
  run_ids uuid[] not null default '{}',             -- its runs that may be live
  actor text,
  created_at timestamptz not null,
  finished_at timestamptz,
  skipped bigint not null default 0,                -- instants that the job's overlap policy left out
  state_reason text,                                -- why it was aborted
  trace json,
  check (state in ('running', 'done', 'aborted')),
  constraint backfill_range_check check (to_at >= from_at),
  check (concurrency > 0),
  check (per_second > 0),
  constraint backfill_finished_check check ((state = 'running') = (finished_at is null))
);
-- The owner of a shard reads the backfills whose next step is due.
create index backfill_running on carillon.backfill (shard, next_step_at) where state = 'running';
-- The backfills of a job.
create index backfill_job on carillon.backfill (job_id, id);

-- Cold. One row per change of many runs: cancel, retry, discard, purge of a queue. Each step does one page of them.
create table carillon.operation (
  id uuid primary key,
  namespace_id int not null,
  shard smallint not null,
  kind text not null check (kind in ('cancel', 'retry', 'discard', 'purge')),
  state text not null check (state in ('running', 'done', 'aborted')),
  request json not null,
  cursor text,                                      -- where the next page begins
  step bigint not null default 0,                   -- the number of the step; a step compares it
  seen bigint not null default 0,
  done bigint not null default 0,
  failed bigint not null default 0,
  failures json not null default '[]',              -- the first items that failed, with their problems
  state_reason text,
  actor text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  trace json,
  constraint operation_finished_check check ((state = 'running') = (finished_at is null))
);
-- The owner of a shard reads the operations that have steps left.
create index operation_running on carillon.operation (shard, updated_at) where state = 'running';
-- The list of operations.
create index operation_by_namespace on carillon.operation (namespace_id, id);

------------------------------------------------------------------------------------------------------------------------------------
-- Webhooks and callbacks.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per endpoint that receives events, written by the webhook API and by deliveries that fail.
create table carillon.webhook (
  id uuid primary key,
  namespace_id int not null,
  url text not null,
  types text[] not null,                            -- the event types that it receives,
  tasks text[],                                     --   of these tasks,
  queues text[],                                    --   of these queues; null: of all
  description text,
  include text[] not null,                          -- the optional parts of an event, such as the output
  secret text not null,                             -- signs the deliveries
  old_secret text,                                  -- signs as well until old_secret_until
  old_secret_until timestamptz,
  is_enabled boolean not null default true,
  disabled_reason text,
  failing_since timestamptz,                        -- no delivery has succeeded since; null: the last one did
  version int not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint webhook_old_secret_check check ((old_secret is null) = (old_secret_until is null))
);
-- The list of endpoints.
create index webhook_namespace on carillon.webhook (namespace_id, id);

-- Hot, only in namespaces with endpoints or for runs with callback addresses. One row per finished run whose end must be delivered.
-- Inserted by the transaction that ends the run, deleted by the one that makes the deliveries (runs themselves): each end once.
create table carillon.run_notice (
  run_id uuid primary key,
  namespace_id int not null,
  ended_at timestamptz not null
);

-- Cold. The secret that signs deliveries to callback addresses, one per namespace, inserted when it is first needed.
create table carillon.callback_secret (
  namespace_id int primary key references carillon.namespace (id),
  secret text not null,
  old_secret text,                                  -- signs as well until old_secret_until
  old_secret_until timestamptz,
  made_at timestamptz not null default clock_timestamp(),
  constraint callback_secret_old_secret_check check ((old_secret is null) = (old_secret_until is null))
);

-- Hot, only for runs that an external system ends. One row per token: the right to end a run under one claim. While the run waits it is
-- running under the session with all zeros, and its claim lasts until it ends.
create table carillon.callback (
  token_hash bytea primary key,                     -- the token itself is not stored
  run_id uuid not null,
  fence bigint not null,
  attempt smallint not null,                        -- of the run when the token was made
  namespace_id int not null,
  created_at timestamptz not null,
  begun_at timestamptz,                             -- when the attempt began; null: the run does not wait yet
  due_at timestamptz,                               -- when the gateway has to end the run; null: it does not wait yet or any more
  answer json,
  answered_at timestamptz,                          -- without an answer: closed, a later callback is refused
  constraint callback_answered_check check (answer is null or answered_at is not null),
  constraint callback_waiting_check check (due_at is null or begun_at is not null)
);
-- The callbacks of a run.
create index callback_run on carillon.callback (run_id);
-- Callbacks that were answered or have expired.
create index callback_due on carillon.callback (due_at) where due_at is not null;

------------------------------------------------------------------------------------------------------------------------------------
-- Repeated requests: idempotency keys and dedupe keys.
------------------------------------------------------------------------------------------------------------------------------------

-- Hot, only for requests with an idempotency key. One row per key of a caller, inserted when the request begins; a repeated request gets
-- the stored answer.
create table carillon.idempotency_key (
  namespace_id int not null,
  caller text not null,
  key text not null,
  request text not null,                            -- a hash of the request: the same key with another request is refused
  token uuid not null,                              -- of the process that works on the request
  begun_at timestamptz not null,
  expires_at timestamptz not null,
  effect json,                                      -- what the request did, written in the transaction that does it
  answer json,                                      -- the response that was sent
  primary key (namespace_id, caller, key)
);
-- The sweep removes expired keys.
create index idempotency_key_expiry on carillon.idempotency_key (expires_at);

-- Hot, only for runs with a dedupe key. One row per key of a task: the run that counts for it. Inserted or taken over by the statement
-- that stores the run. The end of a run writes nothing: whether the run still counts is checked by the next request and by the sweep.
create table carillon.dedupe (
  namespace_id int not null,
  task text not null,
  key text not null,
  run_id uuid not null,
  replaces uuid,                                    -- the run that counted before; a take-over compares it
  window_ms bigint check (window_ms > 0),           -- how long a finished run counts; null: not at all
  created_at timestamptz not null,
  check_at timestamptz not null,                    -- when the sweep checks whether the row can be removed
  primary key (namespace_id, task, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 50000);
-- The sweep.
create index dedupe_check_at on carillon.dedupe (check_at);

------------------------------------------------------------------------------------------------------------------------------------
-- Circuit breakers.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per breaker that has ever opened. Failures are counted in the memory of each node; the node that reaches the threshold
-- opens it. Half-open: one gateway lets one run through as a probe.
create table carillon.breaker (
  namespace_id int not null references carillon.namespace (id),
  name text not null,
  state text not null,
  reason text not null,
  opened_at timestamptz not null,
  probe_at timestamptz not null,                    -- when a probe may start
  open_for_ms bigint not null,                      -- how long it stays open after a failed probe
  probe_by uuid,                                    -- the gateway that probes,
  probe_until timestamptz,                          --   until then, unless it renews that
  openings int not null default 1,
  updated_at timestamptz not null,
  probe_run_id uuid,                                -- strict queues: the claim that probes, by run and fence
  probe_fence bigint,
  probe_version bigint not null default 0,          -- grows with each such claim, so that two queues do not probe at once
  primary key (namespace_id, name),
  check (state in ('closed', 'open', 'half_open')),
  constraint breaker_probe_check check ((state = 'half_open') = (probe_by is not null))
);

------------------------------------------------------------------------------------------------------------------------------------
-- Search.
------------------------------------------------------------------------------------------------------------------------------------

-- Cold. One row per path of payloads that a job or run declared searchable. The values are stored as labels whose names begin with "$.".
create table carillon.search_path (
  namespace_id int not null references carillon.namespace (id),
  path text not null,
  declared_at timestamptz not null default clock_timestamp(),
  primary key (namespace_id, path)
);

------------------------------------------------------------------------------------------------------------------------------------
-- Initial rows.
------------------------------------------------------------------------------------------------------------------------------------

insert into carillon.namespace (name) values ('default');
insert into carillon.setting (name, value) values ('shards', '1024');
insert into carillon.shard (id) select generate_series(0, 1023);
insert into carillon.revision (name) values ('windows'), ('calendars'), ('limits');
insert into carillon.secret (name, value)
values ('direct_dispatch', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

------------------------------------------------------------------------------------------------------------------------------------
-- Functions for enqueueing from plain SQL: psql, triggers, other languages, the caller's own transaction. They compute what the engine
-- computes for a run that is enqueued through its API; tests keep both equal.
------------------------------------------------------------------------------------------------------------------------------------

-- The rank of a run in its queue, as rankOf in packages/core does.
create function carillon.rank_of(
  due_ms bigint, priority int, order_kind text, bound_ms bigint, deadline_in_ms bigint, expected_ms double precision
) returns bigint language sql immutable parallel safe as $$
  select case order_kind
    when 'strict' then (9 - priority) * 17592186044416 + least(greatest(due_ms, 0), 17592186044415)
    when 'fifo' then due_ms
    when 'edf' then due_ms + case when deadline_in_ms > 0 or deadline_in_ms is null
      then least(deadline_in_ms, coalesce(bound_ms, 86400000)) else 0 end
    when 'sjf' then due_ms + floor(least(greatest(coalesce(expected_ms, 0) * 10, 0), coalesce(bound_ms, 5400000)) + 0.5)::bigint
    else due_ms + coalesce(bound_ms, 5400000) * 4 / 9 - coalesce(bound_ms, 5400000) * priority / 9
  end
$$;

-- The lane of a run, inserted with its queue where they do not exist. The queue comes first: it says whether it is strict, which never
-- changes. Names that begin with carillon: are reserved for the product's own queues and tasks.
create function carillon.ensure_lane(
  namespace_number int, queue_name text, task_name text, is_at_most_once boolean, wanted_labels jsonb
) returns int
language plpgsql as $$
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
  select q.order_kind = 'strict' into is_strict from carillon.queue q
  where q.namespace_id = namespace_number and q.name = queue_name;
  if is_strict is null then
    insert into carillon.queue (namespace_id, name) values (namespace_number, queue_name)
    on conflict (namespace_id, name) do nothing;
    select q.order_kind = 'strict' into is_strict from carillon.queue q
    where q.namespace_id = namespace_number and q.name = queue_name;
  end if;
  lane_kind := case
    when is_strict and is_at_most_once then 'strict_once'
    when is_strict then 'strict'
    when is_at_most_once then 'solo'
    else 'plain'
  end;
  select l.id into lane_number from carillon.lane l
  where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  if lane_number is null then
    insert into carillon.lane (queue, task, kind, requires)
    select queue_name, task_name, k.kind, requirement
    from (values ('lost'), ('plain'), ('solo'), ('strict'), ('strict_once')) as k (kind)
    where k.kind = lane_kind or not is_strict and k.kind in ('lost', 'plain', 'solo')
    on conflict (queue, task, kind, requires) do nothing;
    select l.id into lane_number from carillon.lane l
    where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  end if;
  return lane_number;
end
$$;

-- The lane of a run whose policy has limits: a gated one, from which the limits component takes it and resolves its keys.
create function carillon.ensure_gated_lane(lane_number int, policy jsonb) returns int
language plpgsql as $$
declare
  source_lane carillon.lane;
  gated int;
begin
  if policy is null or not policy ?| array['concurrency', 'rateLimit', 'ordering'] then
    return lane_number;
  end if;
  select l.* into source_lane from carillon.lane l where l.id = lane_number;
  if source_lane.kind in ('strict', 'strict_once') then
    raise exception 'queue % is strict and allows no other limits', quote_literal(source_lane.queue) using errcode = '22023';
  end if;
  select l.id into gated from carillon.lane l
  where l.queue = source_lane.queue and l.task = source_lane.task and l.kind = 'gated' and l.requires = source_lane.requires;
  if gated is null then
    insert into carillon.lane (queue, task, kind, requires)
    select source_lane.queue, source_lane.task, k.kind, source_lane.requires from (values ('admitted'), ('gated')) as k (kind)
    on conflict (queue, task, kind, requires) do nothing;
    select l.id into gated from carillon.lane l
    where l.queue = source_lane.queue and l.task = source_lane.task and l.kind = 'gated' and l.requires = source_lane.requires;
  end if;
  return gated;
end
$$;

-- Whether a member of a policy is absent, or a whole number within bounds.
create function carillon.is_absent_or_integer(value jsonb, lowest numeric, highest numeric) returns boolean
language sql immutable as $$
  select case
    when value is null then true
    when jsonb_typeof(value) <> 'number' then false
    else (value #>> '{}')::numeric between lowest and highest and (value #>> '{}')::numeric % 1 = 0
  end
$$;

-- Refuses a policy that the engine could not execute.
create function carillon.check_policy(policy jsonb) returns void language plpgsql immutable as $$
declare
  retry constant jsonb := policy -> 'retry';
  sla constant jsonb := policy -> 'sla';
  max_ms constant numeric := 31622400000;
  no_duration constant text := ' is not a whole number of ms up to 366 days';
  fault constant text := case
    when not carillon.is_absent_or_integer(policy -> 'timeoutMs', 1, max_ms) then 'timeoutMs' || no_duration
    when not carillon.is_absent_or_integer(policy -> 'deadlineMs', 1, max_ms) then 'deadlineMs' || no_duration
    when jsonb_typeof(sla) <> 'object' then 'sla is not an object'
    when not carillon.is_absent_or_integer(sla -> 'startWithinMs', 1, max_ms) then 'sla.startWithinMs' || no_duration
    when not carillon.is_absent_or_integer(sla -> 'finishWithinMs', 1, max_ms) then 'sla.finishWithinMs' || no_duration
    when policy ->> 'guarantee' not in ('at_least_once', 'at_most_once') then 'guarantee is not at_least_once or at_most_once'
    when jsonb_typeof(retry) <> 'object' then 'retry is not an object'
    when not carillon.is_absent_or_integer(retry -> 'maxAttempts', 1, 10000) then 'retry.maxAttempts is not a whole number from 1 to 10000'
    when not carillon.is_absent_or_integer(retry -> 'initialMs', 0, max_ms) then 'retry.initialMs' || no_duration
    when not carillon.is_absent_or_integer(retry -> 'maxMs', 0, max_ms) then 'retry.maxMs' || no_duration
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
$$;

-- Cancels one-off runs that their job, which was changed before their time, has yet to make under the job's id; each ends in history as
-- if it had waited in a table. Rows are locked in the order of ids; a run that was made meanwhile is left alone.
create function carillon.cancel_planned_runs(namespace_number int, ids uuid[], reason text)
returns table (id uuid, namespace_id int, task text, queue text) language sql as $$
  with pick as materialized (
    select d.job_id, d.version, d.next_fire_at
    from carillon.job_due d
    where d.job_id = any (ids) and d.namespace_id = namespace_number and d.runs_made = 0 and d.state in ('active', 'paused')
    order by d.job_id
    for update of d
  ), ended as (
    update carillon.job j
    set version = j.version + 1, pause = null, ended_at = clock_timestamp(), updated_at = clock_timestamp()
    from pick p
    where j.id = p.job_id and j.schedule ->> 'kind' = 'at'
    returning j.*, p.version as version_before, to_timestamp((j.schedule ->> 'at')::float8 / 1000) as at, p.next_fire_at
  ), moved as (
    update carillon.job_due d
    set state = 'cancelled', state_reason = null, version = e.version, next_nominal_at = null, next_fire_at = null,
        catch_up_to = null, fired_through = e.at, fired_count = d.fired_count + 1, runs_made = 1, run_ids = array[d.job_id]
    from ended e
    where d.job_id = e.id
  ), kept as (
    insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
      trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, finished_at, version)
    select e.id, e.id, e.namespace_id, 'cancelled', reason, e.priority, coalesce(e.next_fire_at, e.at), e.at, e.created_at,
           'schedule', e.task, e.queue, e.payload, e.policy, nullif(e.labels, '{}'), e.owner, 0, 0, 0, clock_timestamp(),
           e.version_before
    from ended e
  )
  select e.id, e.namespace_id, e.task, e.queue from ended e
$$;

-- Enqueues one run, with or without a dedupe key. notify: wakes a waiting worker at the commit instead of leaving the run to the next
-- scan. Answers the run that counts, and whether it is new.
create function carillon.enqueue(
  task text,
  payload json default null,
  queue text default 'default',
  priority int default 4,
  run_at timestamptz default null,
  delay interval default null,
  policy jsonb default null,
  labels jsonb default null,
  owner text default null,
  dedupe_key text default null,
  dedupe_on text default null,
  dedupe_window interval default null,
  notify boolean default false,
  namespace text default 'default',
  out run_id uuid,
  out is_new boolean
) language plpgsql as $$
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

  perform carillon.check_policy(enqueue.policy);

  select n.id into namespace_number from carillon.namespace n where n.name = enqueue.namespace;
  if namespace_number is null then
    raise exception 'namespace % does not exist', quote_nullable(enqueue.namespace) using errcode = '22023';
  end if;

  lane_number := carillon.ensure_gated_lane(
    carillon.ensure_lane(namespace_number, enqueue.queue, enqueue.task, is_at_most_once, enqueue.policy -> 'requires'),
    enqueue.policy
  );
  select carillon.rank_of(due_ms, enqueue.priority, q.order_kind, q.bound_ms, deadline_in_ms, t.expected_ms) into rank_number
  from carillon.queue q
  left join carillon.task_duration t
    on q.order_kind = 'sjf' and t.namespace_id = q.namespace_id and t.queue = q.name and t.task = enqueue.task
  where q.namespace_id = namespace_number and q.name = enqueue.queue;

  -- A UUIDv7: the time, the version, and the random part of a UUIDv4 with its variant.
  run_id := (lpad(to_hex(floor(extract(epoch from called_at) * 1000)::bigint), 12, '0') || '7' || substr(random_part, 14))::uuid;
  shard_number := (('x' || right(random_part, 6))::bit(24)::int % 1024)::smallint;
  is_new := true;

  if is_deduped then
    for round in 1 .. 100 loop
      select d.run_id,
             exists (select from carillon.run r where r.id = d.run_id)
               or exists (select from carillon.far_future_run f where f.namespace_id = d.namespace_id and f.id = d.run_id)
               or exists (
                 select from carillon.job_due w join carillon.job j on j.id = w.job_id
                 where w.job_id = d.run_id and w.runs_made = 0 and w.state in ('active', 'paused') and j.schedule ->> 'kind' = 'at'
               )
               or d.window_ms is not null and exists (
                 select from carillon.run_history e
                 where e.id = d.run_id and e.finished_at > statement_timestamp() - d.window_ms * interval '1 millisecond'
               )
      into existing, existing_counts
      from carillon.dedupe d
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
      insert into carillon.dedupe as d (namespace_id, task, key, run_id, replaces, window_ms, created_at, check_at)
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
        delete from carillon.far_future_run f where f.namespace_id = namespace_number and f.id = existing returning f.*
      )
      insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
        trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, finished_at)
      select e.id, e.id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.run_at, e.created_at, 'once',
             l.task, l.queue, e.payload, e.policy, e.labels, e.owner, 0, 0, 0, clock_timestamp()
      from ended e join carillon.lane l on l.id = e.lane;
      -- A concurrent change of its job may turn the row into a planned run, and a concurrent fire a planned run into a row: the second
      -- pass finds the one that the first pass missed.
      for pass in 1 .. 2 loop
        with ended as (
          delete from carillon.run r where r.id = existing and r.state <> 'running' returning r.*
        )
        insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
          trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at,
          attempts, version)
        select e.id, e.job_id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.nominal_at, e.created_at,
               e.trigger, e.task, e.queue, e.payload, e.policy, e.labels, e.owner, e.attempt, e.losses, e.fence, e.session_id,
               e.started_at, clock_timestamp(), e.attempts, e.version
        from ended e;
        exit when found;
        perform from carillon.cancel_planned_runs(namespace_number, array[existing], 'cancelled_by_dedupe');
        exit when found;
      end loop;
    end if;
  end if;

  if due > called_at + interval '630 seconds' then
    insert into carillon.far_future_run (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels,
                                         owner, deadline_at)
    values (enqueue.run_id, due, called_at, rank_number, namespace_number, lane_number, shard_number, enqueue.priority,
            coalesce(enqueue.payload, 'null'), nullif(enqueue.policy, '{}')::json, nullif(enqueue.labels, '{}'), enqueue.owner,
            due + deadline_in_ms * interval '1 millisecond');
  else
    insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
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
$$;

------------------------------------------------------------------------------------------------------------------------------------
-- Functions of jobs.
------------------------------------------------------------------------------------------------------------------------------------

-- Jobs with the same key have the same definition, as far as the scheduler's cache needs it: these are the columns that it reads.
create function carillon.definition_key(
  namespace_id int, schedule json, firing json, priority smallint, task text, queue text, labels jsonb, deadline_ms bigint
) returns uuid language sql stable parallel safe as $$
  select encode(substr(sha256(convert_to(
    json_build_array(namespace_id, schedule, firing, priority, task, queue, labels, deadline_ms)::text, 'UTF8'
  )), 1, 16), 'hex')::uuid
$$;

------------------------------------------------------------------------------------------------------------------------------------
-- Triggers.
------------------------------------------------------------------------------------------------------------------------------------

-- Every change of a definition, by whichever statement and version of a node, updates what the scheduler's cache compares.
create function carillon.update_definition_key() returns trigger language plpgsql as $$
begin
  update carillon.job_due
  set defined_at = coalesce(new.defined_at, new.created_at),
      definition = carillon.definition_key(
        new.namespace_id, new.schedule, new.firing, new.priority, new.task, new.queue, new.labels, new.deadline_ms
      )
  where job_id = new.id;
  return null;
end
$$;
create trigger job_redefined
  after update of schedule, firing, priority, task, queue, labels, policy, created_at, defined_at on carillon.job
  for each row execute function carillon.update_definition_key();

-- Every statement that ends a run deletes its row: the event for its downstream jobs is part of that transaction, so that it is neither
-- lost nor doubled. Only runs of jobs that have downstream jobs execute it.
create function carillon.insert_dependency_events() returns trigger language plpgsql as $$
begin
  insert into carillon.dependency_event (job_id, position, shard, run_id, ended_at)
  select d.job_id, d.position, d.shard, old.id, clock_timestamp()
  from carillon.dependency d
  where d.upstream_id = old.job_id
  on conflict do nothing;
  return null;
end
$$;
create trigger run_ended after delete on carillon.run for each row
when (old.has_downstream) execute function carillon.insert_dependency_events();

-- Every end without success inserts a row of history: its notice is part of that transaction. Successes are many and end in one
-- statement, which inserts their notices itself.
create function carillon.insert_run_notice() returns trigger language plpgsql as $$
begin
  insert into carillon.run_notice (run_id, namespace_id, ended_at)
  select new.id, new.namespace_id, new.finished_at
  where new.policy -> 'callbacks' is not null
     or exists (select from carillon.webhook w where w.namespace_id = new.namespace_id and w.is_enabled)
  on conflict do nothing;
  return null;
end
$$;
create trigger run_not_succeeded after insert on carillon.run_history for each row
when (new.status <> 'succeeded' and new.trigger not like 'callback%') execute function carillon.insert_run_notice();
