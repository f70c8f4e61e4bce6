-- name: node.register
-- purpose: a starting process stores its incarnation of a node
-- fence: none, the id is new; a trigger refuses a node that does not support the level in use
insert into carillon.node (id, name, address, version, level, started_at, heartbeat_at)
values (:id, :name, :address, :version, :level::int, clock_timestamp(), clock_timestamp());

-- name: node.heartbeat
-- purpose: a live node writes its heartbeat. No row means that another node declared it dead: it must stop acting
-- fence: the row exists
update carillon.node
set heartbeat_at = clock_timestamp(), takes_shards = :takes_shards,
  skew_ms = greatest(least(:skew_ms::bigint, 2147483647), -2147483648)::int
where id = :id returning heartbeat_at;

-- name: node.list
-- purpose: reads all nodes with their last heartbeats, and whether a session holds the lock of each. A new start time of the server means
--   that all locks were lost
-- fence: none, a read
with held_locks as materialized (
  select (classid::bigint << 32) | objid::bigint as key
  from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
)
select id, name, address, heartbeat_at::text as heartbeat, takes_shards as "takesShards",
  ('x' || right(replace(id::text, '-', ''), 16))::bit(64)::bigint in (select key from held_locks) as locked,
  pg_postmaster_start_time()::text as "serverStart"
from carillon.node order by started_at, id;

-- name: node.remove
-- purpose: removes a node: it leaves by itself (:seen is null), or another node saw the same heartbeat for the whole timeout
-- fence: heartbeat_at as seen
delete from carillon.node where id = :id and (:seen::timestamptz is null or heartbeat_at = :seen) returning id;

-- name: node.level_in_use
-- purpose: the feature level that the cluster uses, and the highest that all of its nodes support
-- fence: none, a read
select value::int as "inUse", (select coalesce(min(level), 0) from carillon.node)::int as supported
from carillon.setting where name = 'cluster_level';

-- name: node.lock_level
-- purpose: before the level is raised: nodes that are joining have ended their transaction, and others wait
-- fence: the row's lock
select from carillon.setting where name = 'cluster_level' for update;

-- name: node.raise_level
-- purpose: the cluster uses the highest level that all of its nodes support; it never falls
-- fence: the lock of node.lock_level, taken in an earlier statement, so that this one sees every node that has joined
update carillon.setting set value = supported.level::text
from (select min(level) as level from carillon.node) supported
where name = 'cluster_level' and value::int < supported.level
returning value::int as level;

-- name: node.lock
-- purpose: a process holds a session lock as long as it lives. The lock is shared, so it never waits for an older session of the same
--   process that the server has not yet found dead
-- fence: none, the key is the random part of the id
select pg_advisory_lock_shared(('x' || right(replace(:id::uuid::text, '-', ''), 16))::bit(64)::bigint);

-- name: node.unlock
-- purpose: releases the session lock of node.lock
-- fence: none, only this session's own lock
select pg_advisory_unlock_shared(('x' || right(replace(:id::uuid::text, '-', ''), 16))::bit(64)::bigint);

-- name: health.can_write
-- purpose: the health check fails with 55P03 if another session has locked the tables that every call writes to
-- fence: none: the lock is the one of an insert, which blocks no writer, and ends with the statement
do $$
begin
  lock table carillon.run, carillon.job, carillon.job_due in row exclusive mode nowait;
end
$$;
