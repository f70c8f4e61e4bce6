-- name: queue.newer
-- purpose: the queues that changed since the node last asked
-- params: $1 highest revision known bigint
-- fence: none, a read; one that commits late has a lower revision than others that are visible, so callers look back a little
select namespace_id, name, order_kind, bound_ms, pause, revision
from carillon.queue
where revision > $1
order by revision;

-- name: queue.ensure
-- purpose: makes the queues that do not exist yet, and answers all that were asked for
-- params: $1 namespace ids int[], $2 names text[]
-- fence: primary key
with wanted as materialized (
  select distinct namespace_id, name from unnest($1::int[], $2::text[]) as w (namespace_id, name)
), made as (
  insert into carillon.queue (namespace_id, name)
  select namespace_id, name from wanted order by namespace_id, name
  on conflict (namespace_id, name) do nothing
  returning namespace_id, name, order_kind, bound_ms, pause, revision
)
select namespace_id, name, order_kind, bound_ms, pause, revision from made
union all
select q.namespace_id, q.name, q.order_kind, q.bound_ms, q.pause, q.revision
from carillon.queue q join wanted w on w.namespace_id = q.namespace_id and w.name = q.name;

-- name: queue.find
-- purpose: a queue by name
-- params: $1 namespace id int, $2 name text
-- fence: none, a read
select namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at
from carillon.queue where namespace_id = $1 and name = $2;

-- name: queue.list
-- purpose: a keyset page of queues, by name
-- params: $1 namespace id int, $2 after name text or null, $3 limit int
-- fence: none, a read
select namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at
from carillon.queue
where namespace_id = $1 and ($2::text is null or name > $2)
order by name
limit $3;

-- name: queue.hold
-- purpose: a queue by name, for a change of it
-- params: $1 namespace id int, $2 name text
-- fence: the row's lock, under which no other change of it begins; admissions go on
select namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at
from carillon.queue where namespace_id = $1 and name = $2
for no key update;

-- name: queue.lock
-- purpose: takes a queue for a change of what admissions go by; those that are under way end first
-- params: $1 namespace id int, $2 name text
-- fence: the row's lock. Taken before the row is written: who waits for it reads the row as it is then
select name from carillon.queue where namespace_id = $1 and name = $2 for update;

-- name: queue.put
-- purpose: stores a queue as it is from now on
-- params: $1 namespace id int, $2 name text, $3 order text, $4 bound ms bigint or null, $5 pause text or null, $6 limits text or null,
--         $7 paused until timestamptz or null
-- fence: the row is locked, or does not exist: then the primary key decides
insert into carillon.queue as q (namespace_id, name, order_kind, bound_ms, pause, limits, paused_until)
values ($1, $2, $3, $4, $5::json, $6::json, $7)
on conflict (namespace_id, name) do update
set order_kind = excluded.order_kind, bound_ms = excluded.bound_ms, pause = excluded.pause, limits = excluded.limits,
    paused_until = excluded.paused_until, version = q.version + 1, revision = excluded.revision, updated_at = clock_timestamp()
returning namespace_id, name, order_kind, bound_ms, pause, limits, version, revision, created_at, updated_at;

-- name: queue.resume_expired
-- purpose: ends pauses whose time is over
-- params: none
-- fence: the row's lock, and its time compared again on it
update carillon.queue
set pause = null, paused_until = null, version = version + 1, updated_at = clock_timestamp(),
    revision = nextval(pg_get_serial_sequence('carillon.queue', 'revision'))
where paused_until <= clock_timestamp()
returning namespace_id, name;

-- name: queue.stats
-- purpose: what waits and works in queues, counted up to a limit in each of their lanes, and who serves them
-- params: $1 namespace id int, $2 names text[], $3 most of each lane int
-- fence: none, a read
with asked as materialized (
  select distinct name from unnest($2::text[]) as a (name)
), live as materialized (
  select l.queue, r.state, r.run_at
  from carillon.lane l
  cross join lateral (
    select state, run_at from carillon.run
    where lane = l.id and namespace_id = $1 and stage = 1
    order by rank
    limit $3
  ) r
  where l.queue = any ($2::text[])
)
select a.name, l.queued, l.running, l.oldest_due_at, s.workers, s.slots, clock_timestamp() as now
from asked a
cross join lateral (
  select count(*) filter (where state = 'queued' and run_at <= statement_timestamp()) as queued,
         count(*) filter (where state = 'running') as running,
         min(run_at) filter (where state = 'queued' and run_at <= statement_timestamp()) as oldest_due_at
  from live where queue = a.name
) l
cross join lateral (
  select count(*) as workers, coalesce(sum(slots), 0) as slots
  from carillon.worker_session
  where (namespace_id = $1 and namespaces is null
         or namespaces && array['*', (select n.name from carillon.namespace n where n.id = $1)])
    and (queues @> array[a.name] or queues = array['*'])
) s;

-- name: queue.durations
-- purpose: how long runs of each task are expected to take
-- params: none
-- fence: none, a read
select namespace_id, queue, task, expected_ms from carillon.task_duration;

-- name: queue.learn
-- purpose: notes how long runs of tasks take, averaged with what others noted
-- params: $1 namespace ids int[], $2 queues text[], $3 tasks text[], $4 expected ms double precision[]
-- fence: primary key; the last one wins, which is good enough for an estimate
insert into carillon.task_duration as d (namespace_id, queue, task, expected_ms)
select * from unnest($1::int[], $2::text[], $3::text[], $4::double precision[])
order by 1, 2, 3
on conflict (namespace_id, queue, task) do update
set expected_ms = (d.expected_ms + excluded.expected_ms) / 2, updated_at = clock_timestamp();
