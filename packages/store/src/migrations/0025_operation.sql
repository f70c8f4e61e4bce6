-- Work on many runs that goes on by itself, a page at a time, by the owner of the shard. cursor: where the next page begins.
-- failures: the first items that could not be done, with their problems.
create table carillon.operation (
  id uuid primary key,
  namespace_id integer not null,
  shard smallint not null,
  kind text not null check (kind in ('cancel', 'retry', 'discard')),
  state text not null check (state in ('running', 'done', 'aborted')),
  request json not null,
  cursor text,
  step bigint not null default 0,
  seen bigint not null default 0,
  done bigint not null default 0,
  failed bigint not null default 0,
  failures json not null default '[]',
  state_reason text,
  actor text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  check ((state = 'running') = (finished_at is null))
);
create index operation_running on carillon.operation (shard, updated_at) where state = 'running';
create index operation_by_namespace on carillon.operation (namespace_id, id);
