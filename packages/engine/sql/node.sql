-- name: node.register
-- purpose: makes this incarnation of a node known
-- params: $1 id uuid, $2 name text, $3 address text, $4 version text
-- fence: none, the id is new
insert into carillon.node (id, name, address, version, started_at, heartbeat_at)
values ($1, $2, $3, $4, clock_timestamp(), clock_timestamp());

-- name: node.heartbeat
-- purpose: says that a node lives; no row means that others declared it dead and it must stop acting
-- params: $1 id uuid, $2 skew ms int
-- fence: the row exists
update carillon.node set heartbeat_at = clock_timestamp(), skew_ms = $2 where id = $1 returning heartbeat_at;

-- name: node.list
-- purpose: the nodes with their last heartbeats, for whoever watches them
-- params: none
-- fence: none, a read
select id, name, address, heartbeat_at::text as heartbeat from carillon.node order by started_at, id;

-- name: node.remove
-- purpose: a node leaves, or is declared dead by one that saw the same heartbeat for the whole limit
-- params: $1 id uuid, $2 heartbeat as seen timestamptz or null for one's own
-- fence: heartbeat_at as seen
delete from carillon.node where id = $1 and ($2::timestamptz is null or heartbeat_at = $2) returning id;
