-- Limits, how runs are admitted. Admission locks the rows of the limits, and only in later statements reads who holds them and who waits.
-- Whoever holds a limit has a row of limit_hold, and holds it for as long as the run's own row says so: a run that ended in whatever
-- way holds nothing, although its row of limit_hold may still be there.

-- name: limit.gates
-- purpose: a page of the gates behind which runs wait, in their order
-- params: $1 after gate text, $2 limit int
-- fence: none: what is seen is only a hint, the admission looks again
with recursive waiting as (
  (
    select split_part(limits, E'\n', 1) as gate from carillon.run
    where stage = 3 and limits is not null and split_part(limits, E'\n', 1) > $1
    order by split_part(limits, E'\n', 1)
    limit 1
  )
  union all
  select (
    select split_part(r.limits, E'\n', 1) from carillon.run r
    where r.stage = 3 and r.limits is not null and split_part(r.limits, E'\n', 1) > w.gate
    order by split_part(r.limits, E'\n', 1)
    limit 1
  )
  from waiting w
  where w.gate is not null
)
select gate from waiting where gate is not null limit $2;

-- name: limit.first
-- purpose: the first run behind each gate, and what its queue and namespace say: which limits an admission has to lock
-- params: $1 gates text[]
-- fence: none: a hint. It locks nothing, since limits are locked before the rows of queues and namespaces
select h.id, h.namespace_id, h.queue, h.rank, h.fence, h.lane, h.limits, h.created_at, q.pause is not null as is_paused,
       q.limits as queue_limits, n.limits as namespace_limits
from (
  select r.* from unnest($1::text[]) as g (gate)
  cross join lateral (
    select * from carillon.run r
    where split_part(r.limits, E'\n', 1) = g.gate and r.stage = 3 and r.limits is not null
      and r.state_reason is distinct from 'overlap'
    order by r.rank, r.id
    limit 1
  ) r
  where g.gate not like 'o:%'
  union all
  select r.* from unnest($1::text[]) as g (gate)
  cross join lateral (
    select * from carillon.run r
    where split_part(r.limits, E'\n', 1) = g.gate and r.stage = 3 and r.limits like 'o:%'
      and r.state_reason is distinct from 'overlap'
    order by r.nominal_at, r.id
    limit 1
  ) r
  where g.gate like 'o:%'
) h
join carillon.queue q on q.namespace_id = h.namespace_id and q.name = h.queue
join carillon.namespace n on n.id = h.namespace_id;

-- name: limit.heads
-- purpose: the first runs behind each gate, and what their queue and namespace say. Those with an ordering key stand in the order of
--   their times, the others in that of their ranks; one that waits for another run of its job is passed over
-- params: $1 gates text[], $2 most of each int
-- fence: none, a read; sent after the limits are locked it sees what the one before committed. The admission compares each row again.
--   The rows of queue and namespace stay as they are until the admission is over: who sets limits waits for it, or this waits for who
--   sets them and reads what was set
select h.id, h.namespace_id, h.queue, h.rank, h.fence, h.lane, h.limits, h.created_at, q.pause is not null as is_paused,
       q.limits as queue_limits, n.limits as namespace_limits
from (
  select r.* from unnest($1::text[]) as g (gate)
  cross join lateral (
    select * from carillon.run r
    where split_part(r.limits, E'\n', 1) = g.gate and r.stage = 3 and r.limits is not null
      and r.state_reason is distinct from 'overlap'
    order by r.rank, r.id
    limit $2
  ) r
  where g.gate not like 'o:%'
  union all
  select r.* from unnest($1::text[]) as g (gate)
  cross join lateral (
    select * from carillon.run r
    where split_part(r.limits, E'\n', 1) = g.gate and r.stage = 3 and r.limits like 'o:%'
      and r.state_reason is distinct from 'overlap'
    order by r.nominal_at, r.id
    limit 1
  ) r
  where g.gate like 'o:%'
) h
join carillon.queue q on q.namespace_id = h.namespace_id and q.name = h.queue
join carillon.namespace n on n.id = h.namespace_id
for key share of q, n;

-- name: limit.define
-- purpose: makes the rows of limits that were not used before
-- params: $1 namespace ids int[], $2 scopes text[], $3 kinds text[], $4 names text[], $5 limits int[], $6 per ms bigint[],
--         $7 bursts int[], $8 what a failure does text[], $9 of runs made at timestamptz[]
-- fence: unique (namespace_id, scope, kind, name), in its order
insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, defined_at)
select i.*
from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::int[], $6::bigint[], $7::int[], $8::text[], $9::timestamptz[])
  as i (namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, defined_at)
where (
  select k.id from carillon.limit_key k
  where k.namespace_id = i.namespace_id and k.scope = i.scope and k.kind = i.kind and k.name = i.name
) is null
order by 1, 2, 3, 4
on conflict (namespace_id, scope, kind, name) do nothing;

-- name: limit.lock
-- purpose: takes limits for an admission, or for a change of what a queue or a namespace has, by name and by id; waits for whoever
--   admits now
-- params: $1 namespace ids int[], $2 scopes text[], $3 kinds text[], $4 names text[], $5 ids bigint[]
-- fence: the row locks, in the order of ids; what decides is read in later statements
with wanted as materialized (
  select unnest($5::bigint[]) as id
  union all
  select k.id
  from unnest($1::int[], $2::text[], $3::text[], $4::text[]) as i (namespace_id, scope, kind, name)
  join carillon.limit_key k
    on k.namespace_id = any (array[i.namespace_id]) and k.scope = i.scope and k.kind = i.kind and k.name = i.name
)
select k.id, k.namespace_id, k.scope, k.kind, k.name, k.max_count, k.per_ms, k.burst, k.on_failure, k.is_fixed, k.defined_at, k.used,
       k.starts, k.stopped_by, k.is_counted, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
from carillon.limit_key k
where k.id = any (array(select id from wanted))
order by k.id
for update of k;

-- name: limit.disposed
-- purpose: which failed runs somebody has retried or discarded: what waits for them may go on
-- params: $1 ids uuid[]
-- fence: none, a read; sent after the limits are locked
select r.run_id from carillon.redrive r where r.run_id = any ($1::uuid[]) and r.kind <> 'replay';

-- name: limit.release
-- purpose: removes the holds of runs that hold their limits no longer, and tells when they started and how they ended. A concurrency limit is
--   held from the admission to the end of the claim that follows it, a rate until that claim, an ordering key to the end of the run. Of
--   ordering keys it tells who holds them on, and whether that one waits to be admitted again
-- params: $1 limit ids bigint[], $2 runs that may have ceased to hold them uuid[], $3 those of the limits whose holders are all looked
--         at bigint[]
-- fence: the limits are locked: only who holds them lets a run begin to hold, and whoever ceased to hold does not hold again without it
with held as materialized (
  select h.limit_id, h.run_id, h.fence, h.gate, h.admitted_at, k.kind, r.id as live_id, r.fence as run_fence, r.claimed_at,
         r.state = 'blocked' and r.state_reason is distinct from 'overlap' as waits,
         case k.kind
           when 'order' then r.id is null
           when 'rate' then (r.state = 'queued' and r.fence = h.fence) is not true
           else (r.state = 'queued' and r.fence = h.fence or r.state = 'running' and r.fence = h.fence + 1) is not true
         end as is_over
  from (
    select * from carillon.limit_hold where run_id = any ($2::uuid[]) and limit_id = any ($1::bigint[])
    union
    select * from carillon.limit_hold where limit_id = any ($3::bigint[])
  ) h
  join carillon.limit_key k on k.id = any (array[h.limit_id])
  left join carillon.run r on r.id = any (array[h.run_id])
), gone as (
  delete from carillon.limit_hold h using held o
  where o.is_over and h.limit_id = any (array[o.limit_id]) and h.run_id = any (array[o.run_id]) and h.fence = o.fence
)
select o.limit_id, o.run_id, o.gate, o.is_over, coalesce(o.waits, false) as waits, e.status = 'failed' as has_failed,
       ceil(extract(epoch from case
         when o.live_id is not null then case when o.run_fence > o.fence then o.claimed_at end
         when e.fence is null then clock_timestamp()
         when e.fence > o.fence then coalesce(e.started_at, e.finished_at)
       end) * 1000)::bigint as started_ms
from held o
left join lateral (
  select h.status, h.fence, h.started_at, h.finished_at from carillon.run_history h
  where o.live_id is null and h.id = any (array[o.run_id]) and h.finished_at >= o.admitted_at
  limit 1
) e on true
where o.is_over or o.kind = 'order';

-- name: limit.holders
-- purpose: who holds ordering keys and waits to be admitted again: it goes before those that were never admitted
-- params: $1 limit ids bigint[]
-- fence: none, a read; sent after the limits are locked. The rows of queue and namespace stay as they are, as in limit.heads
select r.id, r.namespace_id, r.queue, r.rank, r.fence, r.lane, r.limits, r.created_at, q.pause is not null as is_paused,
       q.limits as queue_limits, n.limits as namespace_limits
from carillon.limit_hold h
join carillon.run r on r.id = any (array[h.run_id])
join carillon.queue q on q.namespace_id = r.namespace_id and q.name = r.queue
join carillon.namespace n on n.id = r.namespace_id
where h.limit_id = any ($1::bigint[]) and r.state = 'blocked' and r.state_reason is distinct from 'overlap'
for key share of q, n;

-- name: limit.admit
-- purpose: queues runs, notes what they hold, and sets the counters of the limits
-- params: $1 run ids uuid[], $2 their fences bigint[]; what they come to hold: $3 limit ids bigint[], $4 run ids uuid[],
--         $5 fences bigint[], $6 gates text[]; the limits as they are from now on: $7 ids bigint[], $8 limits int[], $9 per ms bigint[],
--         $10 bursts int[], $11 what a failure does text[], $12 defined at timestamptz[], $13 used before it int[],
--         $14 starts text[] (each the text of a bigint[]), $15 stopped by uuid[], $16 all holds were looked at boolean
-- fence: state and fence on the run's row: one that was cancelled or ended meanwhile holds nothing; the limits are locked
with pick as materialized (
  select r.id
  from carillon.run r join unnest($1::uuid[], $2::bigint[]) as i (id, fence) on r.id = any (array[i.id])
  where r.fence = i.fence and r.state = 'blocked' and r.state_reason is distinct from 'overlap'
  order by i.id
  for update of r skip locked
), admitted as (
  update carillon.run r set state = 'queued', state_reason = null from pick p where r.id = any (array[p.id])
  returning r.id, r.lane, r.rank
), held as (
  insert into carillon.limit_hold (limit_id, run_id, fence, gate, admitted_at)
  select i.limit_id, i.run_id, i.fence, i.gate, clock_timestamp()
  from unnest($3::bigint[], $4::uuid[], $5::bigint[], $6::text[]) as i (limit_id, run_id, fence, gate)
  where (i.run_id in (select id from admitted)) is true
  on conflict (limit_id, run_id, fence) do nothing
  returning limit_id
), added as materialized (
  -- One value to look into: a join would compare every limit with every hold.
  select jsonb_object_agg(h.limit_id, h.count) as counts
  from (select limit_id, count(*) as count from held group by limit_id) h
), counted as (
  update carillon.limit_key k
  set max_count = i.max_count, per_ms = i.per_ms, burst = i.burst, on_failure = i.on_failure, defined_at = i.defined_at,
      used = i.used + coalesce(((select a.counts from added a) ->> i.id::text)::int, 0), starts = i.starts::bigint[],
      stopped_by = i.stopped_by, swept_at = case when $16 then clock_timestamp() else k.swept_at end,
      used_at = clock_timestamp()
  from unnest($7::bigint[], $8::int[], $9::bigint[], $10::int[], $11::text[], $12::timestamptz[], $13::int[], $14::text[],
              $15::uuid[]) as i (id, max_count, per_ms, burst, on_failure, defined_at, used, starts, stopped_by)
  where k.id = any (array[i.id])
)
select id, lane, rank from admitted;

-- name: limit.stop
-- purpose: cancels what waits behind a run that failed, for ordering keys that ask for it
-- params: $1 gates text[]
-- fence: state on the locked row, locked in the order of ids; the limits are locked
with waiting as materialized (
  select r.id from carillon.run r
  where split_part(r.limits, E'\n', 1) = any ($1::text[]) and r.stage = 3 and r.limits like 'o:%'
), pick as materialized (
  select r.id from carillon.run r
  where r.id = any (array(select id from waiting))
    and split_part(r.limits, E'\n', 1) = any ($1::text[]) and r.stage = 3 and r.limits like 'o:%'
  order by r.id
  for update of r
), ended as (
  delete from carillon.run r using pick p where r.id = any (array[p.id]) returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', 'ordering_stopped', priority, run_at, nominal_at, created_at, trigger, task, queue,
         payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null, null, attempts, version
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: limit.of_runs
-- purpose: what runs hold, or held: all of it of those that may be over, rates of those that have started
-- params: $1 ended or given back uuid[], $2 started uuid[]
-- fence: none: a hint for the admission
with held as materialized (
  select h.limit_id, h.gate from carillon.limit_hold h where h.run_id = any ($1::uuid[])
  union all
  select h.limit_id, h.gate
  from carillon.limit_hold h join carillon.limit_key k on k.id = any (array[h.limit_id])
  where h.run_id = any ($2::uuid[]) and (k.kind = 'rate') is true
)
select distinct limit_id, gate from held;

-- name: limit.unswept
-- purpose: limits that somebody holds, or held, and whose holders nobody has looked at for a while
-- params: $1 ms bigint, $2 limit int
-- fence: none: a hint for the admission
select id from carillon.limit_key
where used > 0 and (swept_at is null or swept_at < clock_timestamp() - $1::bigint * interval '1 millisecond')
limit $2;

-- name: limit.forget
-- purpose: removes limits that nobody uses any more: the next run that needs one makes it again
-- params: $1 after ms bigint, $2 limit int
-- fence: the row's lock; one that is held, or that an operator has set, stays, and one whose window still counts
with idle as materialized (
  select k.id from carillon.limit_key k
  where k.used = 0 and not k.is_fixed and k.stopped_by is null and k.is_counted
    and k.used_at < clock_timestamp() - greatest($1::bigint, coalesce(k.per_ms, 0)) * interval '1 millisecond'
  limit $2
  for update of k skip locked
)
delete from carillon.limit_key k using idle
where k.id = any (array[idle.id]) and (select h.gate from carillon.limit_hold h where h.limit_id = k.id limit 1) is null
returning k.id;
