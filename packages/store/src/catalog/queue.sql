-- name: queue.newer
-- purpose: the queues that changed since the node last asked
-- fence: none, a read; a change that commits late has a lower revision than others that are visible, so callers read some revisions
--   again
select namespace_id, name, order_kind, bound_ms, pause, revision
from carillon.queue
where revision > :revision
order by revision;

-- name: queue.ensure
-- purpose: creates the queues that do not exist yet, and returns all that were requested
-- fence: primary key
with wanted as materialized (
  select distinct namespace_id, name from unnest(:namespace_ids::int[], :names::text[]) as input (namespace_id, name)
), made as (
  insert into carillon.queue (namespace_id, name)
  select namespace_id, name from wanted order by namespace_id, name
  on conflict (namespace_id, name) do nothing
  returning namespace_id, name, order_kind, bound_ms, pause, revision
)
select namespace_id, name, order_kind, bound_ms, pause, revision from made
union all
select queue.namespace_id, queue.name, queue.order_kind, queue.bound_ms, queue.pause, queue.revision
from carillon.queue join wanted on wanted.namespace_id = queue.namespace_id and wanted.name = queue.name;

-- name: queue.find
-- purpose: a queue by name
-- fence: none, a read
select namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at
from carillon.queue where namespace_id = :namespace_id and name = :name;

-- name: queue.list
-- purpose: a keyset page of queues, by name
-- fence: none, a read
select namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at
from carillon.queue
where namespace_id = :namespace_id and (:after::text is null or name > :after)
order by name
limit :limit;

-- name: queue.read_for_change
-- purpose: a queue by name, for a change of it
-- fence: the row's lock, under which no other change of it begins; admissions continue
select namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at
from carillon.queue where namespace_id = :namespace_id and name = :name
for no key update;

-- name: queue.lock
-- purpose: locks a queue for a change of the state that admissions read; admissions under way end first
-- fence: the row's lock. Taken before the row is written, so that a transaction that waits for it reads the row as it is then
select name from carillon.queue where namespace_id = :namespace_id and name = :name for update;

-- name: queue.store
-- purpose: stores the new state of a queue
-- fence: the row is locked, or does not exist: then the primary key decides
insert into carillon.queue (namespace_id, name, order_kind, bound_ms, pause, limits, paused_until)
values (:namespace_id, :name, :order_kind, :bound_ms, :pause::json, :limits::json, :paused_until)
on conflict (namespace_id, name) do update
set order_kind = excluded.order_kind, bound_ms = excluded.bound_ms, pause = excluded.pause, limits = excluded.limits,
    paused_until = excluded.paused_until, version = queue.version + 1, revision = excluded.revision, updated_at = clock_timestamp()
returning namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at;

-- name: queue.resume_expired
-- purpose: ends pauses whose time is over
-- fence: the row's lock, and its time compared again on it
update carillon.queue
set pause = null, paused_until = null, version = version + 1, updated_at = clock_timestamp(),
    revision = nextval(pg_get_serial_sequence('carillon.queue', 'revision'))
where paused_until <= clock_timestamp()
returning namespace_id, name;

-- name: queue.stats
-- purpose: the waiting and running runs of queues, counted up to a number in each of their lanes, and the workers that serve them
-- fence: none, a read
with wanted as materialized (
  select distinct name from unnest(:names::text[]) as input (name)
), live as materialized (
  select lane.queue, head.state, head.run_at
  from carillon.lane
  cross join lateral (
    select state, run_at from carillon.run
    where run.lane = lane.id and namespace_id = :namespace_id and stage = 1
    order by rank
    limit :max_of_lane
  ) head
  where lane.queue = any (:names::text[])
)
select wanted.name, counted.queued, counted.running, counted.oldest_due_at, serving.workers, serving.slots, clock_timestamp() as now
from wanted
cross join lateral (
  select count(*) filter (where state = 'queued' and run_at <= statement_timestamp()) as queued,
         count(*) filter (where state = 'running') as running,
         min(run_at) filter (where state = 'queued' and run_at <= statement_timestamp()) as oldest_due_at
  from live where queue = wanted.name
) counted
cross join lateral (
  select count(*) as workers, coalesce(sum(slots), 0) as slots
  from carillon.worker_session
  where (namespace_id = :namespace_id and namespaces is null
         or namespaces && array['*', (select name from carillon.namespace where id = :namespace_id)])
    and (queues @> array[wanted.name] or queues = array['*'])
) serving;

-- name: queue.durations
-- purpose: how long runs of each task are expected to take
-- fence: none, a read
select namespace_id, queue, task, expected_ms from carillon.task_duration;

-- name: queue.store_durations
-- purpose: stores how long runs of tasks take, averaged with the durations that other nodes stored
-- fence: primary key; the last one wins, which is good enough for an estimate
insert into carillon.task_duration (namespace_id, queue, task, expected_ms)
select * from unnest(:namespace_ids::int[], :queues::text[], :tasks::text[], :expected_ms::double precision[])
order by 1, 2, 3
on conflict (namespace_id, queue, task) do update
set expected_ms = (task_duration.expected_ms + excluded.expected_ms) / 2, updated_at = clock_timestamp();
