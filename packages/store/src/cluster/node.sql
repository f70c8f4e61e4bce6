-- name: node.register
-- purpose: makes this incarnation of a node known
-- params: $1 id uuid, $2 name text, $3 address text, $4 version text
-- fence: none, the id is new
insert into carillon.node (id, name, address, version, started_at, heartbeat_at)
values ($1, $2, $3, $4, clock_timestamp(), clock_timestamp());

-- name: node.heartbeat
-- purpose: says that a node lives; no row means that others declared it dead and it must stop acting
-- params: $1 id uuid, $2 skew ms bigint, $3 whether it takes shards boolean
-- fence: the row exists
update carillon.node
set heartbeat_at = clock_timestamp(), takes_shards = $3,
  skew_ms = greatest(least($2::bigint, 2147483647), -2147483648)::int
where id = $1 returning heartbeat_at;

-- name: node.list
-- purpose: the nodes with their last heartbeats, and whether some session holds the lock of each, for whoever watches them;
--   the server's start tells whether locks may have been lost with it
-- params: none
-- fence: none, a read
with held as materialized (
  select (l.classid::bigint << 32) | l.objid::bigint as key
  from pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
)
select n.id, n.name, n.address, n.heartbeat_at::text as heartbeat, n.takes_shards as "takesShards",
  ('x' || right(replace(n.id::text, '-', ''), 16))::bit(64)::bigint in (select key from held) as locked,
  pg_postmaster_start_time()::text as "serverStart"
from carillon.node n order by n.started_at, n.id;

-- name: node.remove
-- purpose: a node leaves, or is declared dead by one that saw the same heartbeat for the whole limit
-- params: $1 id uuid, $2 heartbeat as seen timestamptz or null for one's own
-- fence: heartbeat_at as seen
delete from carillon.node where id = $1 and ($2::timestamptz is null or heartbeat_at = $2) returning id;

-- name: node.lock
-- purpose: shows by a lock of the session that the process of this incarnation lives; shared, so that it never waits for an
--   older session of the same process which the server has not yet found dead
-- params: $1 id uuid
-- fence: none, the key is the random part of the id
select pg_advisory_lock_shared(('x' || right(replace($1::uuid::text, '-', ''), 16))::bit(64)::bigint);

-- name: node.unlock
-- purpose: ends what node.lock began
-- params: $1 id uuid
-- fence: none, only this session's own lock
select pg_advisory_unlock_shared(('x' || right(replace($1::uuid::text, '-', ''), 16))::bit(64)::bigint);
