-- Rows are locked in the order of their ids, so that two who move shards wait for each other and never deadlock.

-- name: shard.list
-- purpose: who owns which shard
-- params: none
-- fence: none, a read
select id, owner, epoch from carillon.shard order by id;

-- name: shard.moves
-- purpose: whether anything moved since a former look. Every statement that changes a shard's owner lets its epoch grow, so their sum
--   tells; the hash is for changes by other hands, and for another history of the database in which as much has happened
-- params: none
-- fence: none, a read
select concat(sum(epoch), ' ', sum(hash_record_extended(s, 0))) as moves from carillon.shard s;

-- name: shard.take
-- purpose: takes over shards whose owner and epoch are still as seen; one that a write of its old owner holds just now is
--   left for the next pass, because a node that waits sends no heartbeat
-- params: $1 new owner uuid, $2 shards smallint[], $3 epochs as seen bigint[]
-- fence: epoch as seen, on the locked row; it only grows
with free as materialized (
  select s.id
  from carillon.shard s join unnest($2::smallint[], $3::bigint[]) as seen (id, epoch) on s.id = seen.id and s.epoch = seen.epoch
  order by s.id for update of s skip locked
)
update carillon.shard s set owner = $1, epoch = s.epoch + 1 from free where s.id = free.id returning s.id, s.epoch;

-- name: shard.release
-- purpose: gives up every shard of a node that stops; the epoch grows so that nothing late gets through
-- params: $1 owner uuid
-- fence: owner, on the locked row
with mine as materialized (select id from carillon.shard where owner = $1 order by id for update)
update carillon.shard s set owner = null, epoch = s.epoch + 1 from mine where s.id = mine.id returning s.id;

-- name: shard.drop
-- purpose: gives up some shards of a live node, so that others can take their part
-- params: $1 owner uuid, $2 shards smallint[]
-- fence: owner, on the locked row
with mine as materialized (
  select id from carillon.shard where owner = $1 and id = any ($2::smallint[]) order by id for update
)
update carillon.shard s set owner = null, epoch = s.epoch + 1 from mine where s.id = mine.id returning s.id;

-- name: shard.lineage
-- purpose: which history the database is in (system, database, timeline), how far it has come, and which one the shards were
--   last owned in; the timeline is that of the log, since the control file shows the old one until the next checkpoint
-- params: none
-- fence: none, a read
select
  (select system_identifier from pg_control_system())::text
    || '.' || (select oid from pg_database where datname = current_database())::text
    || '.' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) as lineage,
  (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text as flushed,
  (select value from carillon.setting where name = 'database_timeline') as remembered;

-- name: shard.remember_lineage
-- purpose: the first look at a new installation
-- params: $1 lineage text
-- fence: none is remembered yet
insert into carillon.setting (name, value) values ('database_timeline', $1) on conflict (name) do nothing;

-- name: shard.void
-- purpose: the database is in another history than the owners were in: nobody owns anything, every node must join anew, and
--   epochs jump beyond whatever the lost history may have reached
-- params: $1 lineage text, $2 lineage as remembered text
-- fence: lineage as remembered, so that one node does it
with moved as materialized (
  update carillon.setting set value = $1 where name = 'database_timeline' and value = $2 returning name
),
gone as (delete from carillon.node where exists (select from moved)),
every as materialized (select id from carillon.shard where exists (select from moved) order by id for update)
update carillon.shard s set owner = null, epoch = s.epoch + 1048576 from every where s.id = every.id;
