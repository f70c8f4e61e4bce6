-- One-off jobs whose time is far away: one narrow row each, out of the way of the hot table until shortly before they are due.
-- job_id is id, nominal_at is run_at, trigger is 'once', task and queue are those of the lane: run gets them when the row moves.
-- The primary key begins with the namespace because a list of a small namespace must not walk the rows of a large one.
create table carillon.run_later (
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
  primary key (namespace_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 50000);

create index run_later_due on carillon.run_later (shard, run_at);
