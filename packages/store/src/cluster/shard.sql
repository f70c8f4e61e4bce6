-- Rows are locked in the order of their ids: two nodes that move shards wait for each other and never deadlock.

-- part: shard.owned
-- purpose: the fence of every write for a shard: the shards that this node owns under the epoch that it knows. The share lock keeps other
--   nodes from taking them until the transaction ends
select shard.id
from carillon.shard join unnest(:shards::smallint[], :epochs::bigint[]) as held (id, epoch) on held.id = shard.id
where shard.owner = :node and shard.epoch = held.epoch
order by shard.id
for share of shard

-- name: shard.list
-- purpose: reads the owners of all shards
-- fence: none, a read
select id, owner, epoch from carillon.shard order by id;

-- name: shard.fingerprint
-- purpose: reads a value that differs after every change of a shard. Each statement that changes an owner raises the epoch, so their sum
--   suffices; the hash is for changes outside Carillon, and for another timeline of the database with as many changes
-- fence: none, a read
select concat(sum(epoch), ' ', sum(hash_record_extended(shard, 0))) as fingerprint from carillon.shard;

-- name: shard.take
-- purpose: a node takes over shards whose owner and epoch are as it saw them. A row that a write of the old owner holds is left to the
--   next pass, because a node that waits sends no heartbeat
-- fence: the seen epoch, on the locked row; it only grows
with free as materialized (
  select shard.id
  from carillon.shard
  join unnest(:shards::smallint[], :epochs::bigint[]) as seen (id, epoch) on shard.id = seen.id and shard.epoch = seen.epoch
  order by shard.id for update of shard skip locked
)
update carillon.shard set owner = :owner, epoch = shard.epoch + 1 from free where shard.id = free.id returning shard.id, shard.epoch;

-- name: shard.release
-- purpose: a node that stops gives up all its shards; the epoch grows, so late writes are refused
-- fence: owner, on the locked row
with owned as materialized (select id from carillon.shard where owner = :owner order by id for update)
update carillon.shard set owner = null, epoch = shard.epoch + 1 from owned where shard.id = owned.id returning shard.id;

-- name: shard.drop
-- purpose: a live node gives up some shards, so that other nodes can take their share
-- fence: owner, on the locked row
with owned as materialized (
  select id from carillon.shard where owner = :owner and id = any (:shards::smallint[]) order by id for update
)
update carillon.shard set owner = null, epoch = shard.epoch + 1 from owned where shard.id = owned.id returning shard.id;

-- name: shard.timeline
-- purpose: reads the timeline of the database (system, database, timeline of the log), how much log it has written, and the timeline in
--   which the shards were last owned. The control file shows the old timeline until the next checkpoint, so it is read from the log
-- fence: none, a read
select
  (select system_identifier from pg_control_system())::text
    || '.' || (select oid from pg_database where datname = current_database())::text
    || '.' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) as timeline,
  (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text as flushed,
  (select value from carillon.setting where name = 'database_timeline') as remembered,
  (select value from carillon.revision where name = 'fences') as fences;

-- name: shard.remember_timeline
-- purpose: the first node of a new installation stores the timeline
-- fence: no timeline is stored yet
insert into carillon.setting (name, value) values ('database_timeline', :timeline) on conflict (name) do nothing;

-- name: shard.raise_fences
-- purpose: before shard.void_all, raises the high part of fences beyond all values that the lost timeline may have reached. Two standbys
--   that are promoted one after the other may each have lost the jump before: so it jumps from the highest value that this node knows, by a
--   random number of steps. A statement of its own: it waits for each session.open that read the old value, and shard.void_all must see
--   the sessions of these
-- fence: the value as read with the timeline, so that of several nodes one raises it
update carillon.revision
set value = greatest(value, :known_fences::bigint) + (1 + floor(random() * 127))::bigint * 4294967296
where name = 'fences' and value = :seen_fences::bigint
  and exists (select from carillon.setting where name = 'database_timeline' and value = :remembered);

-- name: shard.void_all
-- purpose: a node that finds the database in another timeline ends everything that rests on the lost one: it removes every owner, every node
--   and every worker session, so that nodes and workers register again and the runs of the sessions are rescued. Epochs and revisions jump
--   beyond all values that the lost timeline may have reached
-- fence: the remembered timeline, so that one node does it; the fences are raised, also on the server that a pooler may have changed since
with changed as materialized (
  update carillon.setting set value = :timeline
  where name = 'database_timeline' and value = :remembered
    and exists (select from carillon.revision where name = 'fences' and value > :seen_fences::bigint)
  returning name
),
removed_nodes as (delete from carillon.node where exists (select from changed)),
removed_sessions as (delete from carillon.worker_session where exists (select from changed)),
revised as (
  update carillon.revision set value = value + 1048576 where name <> 'fences' and exists (select from changed)
),
locked as materialized (select id from carillon.shard where exists (select from changed) order by id for update)
update carillon.shard set owner = null, epoch = shard.epoch + 1048576 from locked where shard.id = locked.id;
