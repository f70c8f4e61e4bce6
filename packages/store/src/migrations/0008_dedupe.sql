-- Which run counts for a business identity. A row is made or taken over in the statement that stores its run; nothing is written when
-- the run ends: whether it still counts is looked up when the key is asked for again, and by the sweep.
-- replaces: the run that counted before; a take-over compares it. look_at: when the sweep looks whether the row can go.
create table carillon.dedupe (
  namespace_id int not null,
  task text not null,
  key text not null,
  run_id uuid not null,
  replaces uuid,
  window_ms bigint check (window_ms > 0),
  created_at timestamptz not null,
  look_at timestamptz not null,
  primary key (namespace_id, task, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 50000);

create index dedupe_look on carillon.dedupe (look_at);
