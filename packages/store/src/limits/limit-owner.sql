-- Limits of queues and namespaces: who has some, from when on they hold, and who is at work when they are set.

-- name: limit.owners
-- purpose: the queues and namespaces that have limits of their own, and the revision of that
-- params: none
-- fence: none, a read of one snapshot; a claim compares the revision
select r.value as revision, o.namespace_id, o.queue
from carillon.revision r
left join (
  select namespace_id, name as queue from carillon.queue where limits is not null
  union all
  select id, null from carillon.namespace where limits is not null
) o on true
where r.name = 'limits';

-- name: limit.fence
-- purpose: from now on only those claim for a worker who know the limits of queues and namespaces as this transaction leaves them
-- params: none
-- fence: the lock on the revision's row, which this transaction has: no session is opened meanwhile. The lock on each session's row,
--   taken in the order of ids: claims that are under way end first, later ones find another revision in it
with locked as materialized (
  select id from carillon.worker_session order by id for update
)
update carillon.worker_session s set limits_revision = r.value
from locked, carillon.revision r
where s.id = any (array[locked.id]) and r.name = 'limits';

-- name: limit.declare
-- purpose: makes the rows of limits that a queue or a namespace is about to have and did not have before
-- params: $1 namespace id int, $2 scope text, $3 name text, $4 kinds text[], $5 limits int[], $6 per ms bigint[], $7 bursts int[]
-- fence: unique (namespace_id, scope, kind, name), in its order
insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, per_ms, burst, defined_at, is_counted)
select $1, $2, i.kind, $3, i.max_count, i.per_ms, i.burst, clock_timestamp(), false
from unnest($4::text[], $5::int[], $6::bigint[], $7::int[]) as i (kind, max_count, per_ms, burst)
order by i.kind
on conflict (namespace_id, scope, kind, name) do nothing;

-- name: limit.recount
-- purpose: limits that a queue or a namespace has from now on: they have no room until those are counted that are at work already
-- params: $1 namespace id int, $2 scope text, $3 name text, $4 kinds text[]
-- fence: the rows are locked; the owner's row is locked before the commit
update carillon.limit_key set is_counted = false
where namespace_id = $1 and scope = $2 and name = $3 and kind = any ($4::text[]);

-- name: limit.dismiss
-- purpose: limits that a queue or a namespace had: nobody has to be counted for them
-- params: $1 namespace id int, $2 scope text, $3 name text, $4 kinds text[]
-- fence: the rows are locked; the owner's row is locked before the commit
update carillon.limit_key set is_counted = true
where namespace_id = $1 and scope = $2 and name = $3 and kind = any ($4::text[]) and not is_counted;

-- name: limit.at_work
-- purpose: runs that are at work or admitted: of a page of lanes of a queue, or of all queues of a namespace, those among the first
--   of each lane, and up to which rank these were read
-- params: $1 namespace id int, $2 queue text or null for all, $3 from lane int, $4 after rank bigint (of the first lane),
--         $5 lanes int, $6 of each lane int
-- fence: none: who counts them compares each row again
select l.id as lane, coalesce(p.rank, $4) as rank, p.seen, p.run_ids
from (
  select id, kind from carillon.lane
  where id >= $3 and ($2::text is null or queue = $2) and kind not in ('gated', 'strict', 'strict_once')
  order by id
  limit $5
) l
cross join lateral (
  select max(r.rank) as rank, count(*)::int as seen,
         array_agg(r.id) filter (where r.state = 'running' or l.kind = 'admitted') as run_ids
  from (
    select id, rank, state from carillon.run
    where lane = l.id and namespace_id = $1 and stage = 1
      and rank > case when l.id = $3 then $4::bigint else -9223372036854775808 end
    order by rank
    fetch first $6 rows with ties
  ) r
) p
order by l.id;

-- name: limit.count
-- purpose: of these runs, those that are at work hold the limit from now on; of a rate those that are admitted and have not started
-- params: $1 limit id bigint, $2 run ids uuid[], $3 it is a rate boolean
-- fence: the limit is locked, and not counted yet; state on each run's row
with uncounted as materialized (
  select id from carillon.limit_key where id = $1 and not is_counted
), held as (
  insert into carillon.limit_hold (limit_id, run_id, fence, gate, admitted_at)
  select u.id, r.id, case r.state when 'running' then r.fence - 1 else r.fence end,
         coalesce(split_part(r.limits, E'\n', 1), ''), clock_timestamp()
  from uncounted u cross join carillon.run r
  where r.id = any ($2::uuid[]) and (r.state = 'queued' and r.limits is not null or r.state = 'running' and not $3)
  on conflict (limit_id, run_id, fence) do nothing
  returning 1
)
update carillon.limit_key k
set is_counted = true, used = k.used + (select count(*) from held), used_at = clock_timestamp()
from uncounted u
where k.id = any (array[u.id]);
