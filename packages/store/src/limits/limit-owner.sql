-- Limits of queues and namespaces: which have some, from when they are in force, and which runs are active when they are set.

-- name: limit.owners
-- purpose: the queues and namespaces that have limits of their own, and the revision of these limits
-- fence: none, a read of one snapshot; a claim compares the revision
select revision.value as revision, owner.namespace_id, owner.queue
from carillon.revision
left join (
  select namespace_id, name as queue from carillon.queue where limits is not null
  union all
  select id, null from carillon.namespace where limits is not null
) owner on true
where revision.name = 'limits';

-- name: limit.fence
-- purpose: makes gateways unable to claim until they have read the limits of queues and namespaces that this transaction commits
-- fence: the lock on the revision's row, which this transaction has: no session is opened meanwhile. The lock on each session's
--   row, taken in the order of ids: claims under way end first, later ones find another revision in it
with locked as materialized (
  select id from carillon.worker_session order by id for update
)
update carillon.worker_session session set limits_revision = revision.value
from locked, carillon.revision
where session.id = any (array[locked.id]) and revision.name = 'limits';

-- name: limit.declare
-- purpose: creates the rows of the limits that a queue or a namespace is about to get
-- fence: unique (namespace_id, scope, kind, name), in its order
insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, per_ms, burst, defined_at, is_counted)
select :namespace_id, :scope, input.kind, :name, input.max_count, input.per_ms, input.burst, clock_timestamp(), false
from unnest(:kinds::text[], :limits::int[], :per_ms::bigint[], :bursts::int[]) as input (kind, max_count, per_ms, burst)
order by input.kind
on conflict (namespace_id, scope, kind, name) do nothing;

-- name: limit.recount
-- purpose: marks limits that a queue or a namespace gets: they admit no run until the active runs are counted
-- fence: the rows are locked; the owner's row is locked before the commit
update carillon.limit_key set is_counted = false
where namespace_id = :namespace_id and scope = :scope and name = :name and kind = any (:kinds::text[]);

-- name: limit.stop_counting
-- purpose: marks limits that a queue or a namespace loses: no run has to be counted for them
-- fence: the rows are locked; the owner's row is locked before the commit
update carillon.limit_key set is_counted = true
where namespace_id = :namespace_id and scope = :scope and name = :name and kind = any (:kinds::text[]) and not is_counted;

-- name: limit.scan_active
-- purpose: running and admitted runs, among the first runs of each lane of a page of lanes: of a queue, or of all queues of a
--   namespace (`queue` is null). `after_rank` is of the first lane. Also returns the rank up to which each lane was read
-- fence: none: limit.count compares each row again
select lane.id as lane, coalesce(page.rank, :after_rank) as rank, page.seen, page.run_ids
from (
  select id, kind from carillon.lane
  where id >= :from_lane and (:queue::text is null or queue = :queue) and kind not in ('gated', 'strict', 'strict_once')
  order by id
  limit :max_lanes
) lane
cross join lateral (
  select max(active.rank) as rank, count(*)::int as seen,
         array_agg(active.id) filter (where active.state = 'running' or lane.kind = 'admitted') as run_ids
  from (
    select id, rank, state from carillon.run
    where run.lane = lane.id and namespace_id = :namespace_id and stage = 1
      and rank > case when lane.id = :from_lane then :after_rank::bigint else -9223372036854775808 end
    order by rank
    fetch first :max_of_each rows with ties
  ) active
) page
order by lane.id;

-- name: limit.count
-- purpose: gives holds of a limit to those of these runs that are running; of a rate to those that are admitted and have not
--   started
-- fence: the limit is locked, and not counted yet; state on each run's row
with uncounted as materialized (
  select id from carillon.limit_key where id = :limit_id and not is_counted
), held as (
  insert into carillon.limit_hold (limit_id, run_id, fence, gate, admitted_at)
  select uncounted.id, run.id, case run.state when 'running' then run.fence - 1 else run.fence end,
         coalesce(split_part(run.limits, E'\n', 1), ''), clock_timestamp()
  from uncounted cross join carillon.run
  where run.id = any (:run_ids::uuid[]) and (run.state = 'queued' and run.limits is not null or run.state = 'running' and not :is_rate)
  on conflict (limit_id, run_id, fence) do nothing
  returning 1
)
update carillon.limit_key
set is_counted = true, used = limit_key.used + (select count(*) from held), used_at = clock_timestamp()
from uncounted
where limit_key.id = any (array[uncounted.id]);

-- name: revision.increment
-- purpose: notifies nodes that something changed which they cache
-- fence: the row's lock, in the order of the names; committed together with the change
with locked as materialized (
  select name from carillon.revision where name = any (:names::text[]) order by name for update
)
update carillon.revision set value = revision.value + 1 from locked where revision.name = locked.name;
