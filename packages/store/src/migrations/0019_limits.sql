-- Limits: bounds on concurrency and rate, and ordering keys.

-- The limits of a run that has any, a line each; the first line is the gate behind which it waits. Null costs nothing.
alter table carillon.run add column limits text;

-- Behind a gate runs stand by rank, or with an ordering key by time. A claim changes nothing that these indexes know.
create index run_gate on carillon.run (split_part(limits, E'\n', 1), rank, id) where stage = 3 and limits is not null;
create index run_gate_order on carillon.run (split_part(limits, E'\n', 1), nominal_at, id) where stage = 3 and limits like 'o:%';

-- Runs that wait for others of their job, apart from those that wait for a limit.
drop index carillon.run_blocked;
create index run_blocked on carillon.run (shard, id) where stage = 3 and serial;

-- gated: nobody is served from it, its runs wait for their limits. admitted: as solo, its runs hold what they need.
alter table carillon.lane drop constraint lane_kind;
alter table carillon.lane add constraint lane_kind
  check (kind in ('plain', 'solo', 'lost', 'strict', 'strict_once', 'gated', 'admitted'));

alter table carillon.queue add column limits json;
alter table carillon.namespace add column limits json;

create table carillon.limit_key (
  id bigint generated always as identity primary key,
  namespace_id int not null,
  scope text not null constraint limit_key_scope check (scope in ('key', 'task', 'job', 'queue', 'namespace')),
  kind text not null constraint limit_key_kind check (kind in ('concurrency', 'rate', 'order')),
  name text not null,
  most int not null constraint limit_key_most check (most >= 0),
  per_ms bigint,
  burst int,
  on_failure text,
  -- An operator has set it: what runs say of it does not count.
  is_fixed boolean not null default false,
  -- When the run was made that said so last.
  defined_at timestamptz not null,
  -- Rows of limit_hold.
  used int not null default 0 constraint limit_key_used check (used >= 0),
  -- Of a rate: pairs of ms and count.
  starts bigint[] not null default '{}',
  stopped_by uuid,
  swept_at timestamptz,
  used_at timestamptz not null default clock_timestamp(),
  constraint limit_key_of unique (namespace_id, scope, kind, name)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

create index limit_key_held on carillon.limit_key (id) where used > 0;

create table carillon.limit_hold (
  limit_id bigint not null,
  run_id uuid not null,
  -- Of the run when it was admitted; the claim has the next one. Of an ordering key always 0: it is held until the end.
  fence bigint not null,
  gate text not null,
  admitted_at timestamptz not null,
  primary key (limit_id, run_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index limit_hold_run on carillon.limit_hold (run_id);
