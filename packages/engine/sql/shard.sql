-- name: shard.list
-- purpose: who owns which shard
-- params: none
-- fence: none, a read
select id, owner, epoch from carillon.shard order by id;

-- name: shard.take
-- purpose: takes over shards whose owner and epoch are still as seen
-- params: $1 new owner uuid, $2 shards smallint[], $3 epochs as seen bigint[]
-- fence: epoch as seen; it only grows
update carillon.shard s
set owner = $1, epoch = s.epoch + 1
from unnest($2::smallint[], $3::bigint[]) as seen (id, epoch)
where s.id = seen.id and s.epoch = seen.epoch
returning s.id, s.epoch;

-- name: shard.release
-- purpose: gives up every shard of a node that stops; the epoch grows so that nothing late gets through
-- params: $1 owner uuid
-- fence: owner
update carillon.shard set owner = null, epoch = epoch + 1 where owner = $1 returning id;

-- name: shard.drop
-- purpose: gives up some shards of a live node, so that others can take their part
-- params: $1 owner uuid, $2 shards smallint[]
-- fence: owner
update carillon.shard set owner = null, epoch = epoch + 1 where owner = $1 and id = any ($2::smallint[]) returning id;
