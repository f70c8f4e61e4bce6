-- Dead letters and the kinds of errors. Runs that succeed touch none of this.

-- fingerprint: the kind of error that ended the run.
alter table carillon.run_history add column fingerprint text;
create index run_history_failed on carillon.run_history (namespace_id, id) where status = 'failed';

-- What was done about runs that had ended. A dead letter is retried or discarded once; any run may be replayed often.
create table carillon.redrive (
  number bigint generated always as identity primary key,
  run_id uuid not null,
  namespace_id integer not null,
  kind text not null check (kind in ('retry', 'replay', 'discard')),
  new_run_id uuid,
  actor text,
  created_at timestamptz not null,
  check ((kind = 'discard') = (new_run_id is null))
);
create unique index redrive_once on carillon.redrive (run_id) where kind <> 'replay';
create index redrive_of on carillon.redrive (run_id);

-- One row for each kind of error. Written in batches by each node every few seconds, never by a run's own transaction.
create table carillon.error_group (
  namespace_id integer not null,
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
create index error_group_seen on carillon.error_group (namespace_id, last_seen_at, fingerprint);
