-- What jobs do about lateness and overlap, how they change, and what they are measured against: versions, pauses, calendars,
-- maintenance windows, backfills.

-- firing: misfire, overlap and catch-up policies that differ from the defaults. defined_at: since when this definition is in
-- force. pause: who paused it, why, until when. ended_at: cancelled then; its key is free again.
alter table carillon.job
  add column firing json,
  add column defined_at timestamptz,
  add column pause json,
  add column ended_at timestamptz;

create unique index job_live_key on carillon.job (namespace_id, key) where key is not null and ended_at is null;
create index job_ended_key on carillon.job (namespace_id, key, id) where key is not null and ended_at is not null;
drop index carillon.job_key;

-- runs_made: grows with every run of the job, so that a stale wheel shows. run_ids: the runs that may be live, the newest last,
-- which stays when it has ended. ledger_from, ledger_reason: the ledger's range that still grows. catch_up_to: occurrences up to
-- here are fired however late they are.
alter table carillon.job_due
  add column overlap text not null default 'skip',
  add column runs_made bigint not null default 0,
  add column run_ids uuid[] not null default '{}',
  add column ledger_from timestamptz,
  add column ledger_reason text,
  add column catch_up_to timestamptz,
  add constraint job_due_overlap_check check (overlap in ('allow', 'skip', 'queue_one', 'queue_all', 'cancel_running')),
  add constraint job_due_next_check check (
    case state
      when 'active' then (next_nominal_at is null) = (next_fire_at is null)
      when 'paused' then next_nominal_at is null
      else next_fire_at is null and next_nominal_at is null
    end
  ),
  drop constraint job_due_check;

-- A paused job has a due time as well: the end of its pause.
create index job_due_time on carillon.job_due (shard, class, next_fire_at) where next_fire_at is not null;
drop index carillon.job_due_next;

-- state_reason: 'held <revision>' while an occurrence waits for the end of a maintenance window, with the windows that decided.
create index job_due_held on carillon.job_due (shard) where state_reason is not null;

-- version: the definition it was made from. untracked: its job lets runs overlap and keeps no list of them. serial: its job lets
-- runs wait for one another. cancel_reason: its worker is asked to stop.
alter table carillon.run
  add column version int,
  add column untracked boolean not null default false,
  add column serial boolean not null default false,
  add column cancel_reason text;
alter table carillon.run_history add column version int;

create index run_untracked on carillon.run (job_id) where untracked;
create index run_blocked on carillon.run (shard, id) where state = 'blocked';

alter table carillon.occurrence add column detail text;

-- Definitions that were in force before the present one, which is in job itself.
create table carillon.job_version (
  job_id uuid not null,
  namespace_id int not null,
  version int not null,
  definition json not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  replaced_by text,
  primary key (job_id, version)
);

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

create table carillon.calendar_version (
  calendar_id int not null,
  version int not null,
  definition json not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  primary key (calendar_id, version)
);

-- Which jobs follow a calendar, and the version with which their next time was computed.
create table carillon.job_calendar (
  job_id uuid not null,
  calendar_id int not null,
  shard smallint not null,
  seen_version int not null,
  primary key (job_id, calendar_id)
);
create index job_calendar_users on carillon.job_calendar (calendar_id, seen_version);

create table carillon.maintenance_window (
  id int generated always as identity primary key,
  namespace_id int not null,
  name text not null,
  definition json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (namespace_id, name)
);

-- Grows with every change of something that nodes keep in memory; a fire compares it.
create table carillon.revision (
  name text primary key,
  value bigint not null default 0
);
insert into carillon.revision (name) values ('windows'), ('calendars');

create table carillon.backfill (
  id uuid primary key,
  job_id uuid not null,
  namespace_id int not null,
  shard smallint not null,
  state text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  through_at timestamptz,
  next_step_at timestamptz not null,
  per_second real not null,
  concurrency int not null,
  repeats boolean not null,
  force boolean not null,
  total bigint not null,
  made bigint not null default 0,
  passed bigint not null default 0,
  run_ids uuid[] not null default '{}',
  actor text,
  created_at timestamptz not null,
  finished_at timestamptz,
  check (state in ('running', 'done', 'aborted')),
  check (to_at >= from_at),
  check (concurrency > 0),
  check (per_second > 0)
);
create index backfill_running on carillon.backfill (shard, next_step_at) where state = 'running';
create index backfill_job on carillon.backfill (job_id, id);
