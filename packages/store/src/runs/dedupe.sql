-- Runs with a business identity. What decides is the row of the key: a run is stored only if its row was made, or taken over from the
-- run that the statement's snapshot saw there. A run that ended stays ended, so a take-over from it can rest on that snapshot. A run
-- whose job was changed before its time is made by that job, under the same id: until then the job counts in its place, and is cancelled
-- where the run is replaced.

-- name: dedupe.insert
-- purpose: stores runs whose key is free, or whose request replaces; of the others it says which run counts. A run that is replaced and
--   was not handed to a worker ends as cancelled. No key may stand twice in a batch
-- params: $1 ids uuid[], $2 job ids uuid[], $3 namespace ids int[], $4 shards smallint[], $5 lanes int[],
--         $6 priorities smallint[], $7 ranks bigint[], $8 run at timestamptz[], $9 nominals timestamptz[], $10 triggers text[],
--         $11 tasks text[], $12 queues text[], $13 payloads text[], $14 policies text[], $15 labels text[], $16 owners text[],
--         $17 horizon ms bigint, $18 keys text[], $19 actions text[], $20 windows ms bigint[], $21 how long to wait for a key that
--         an open transaction holds, text such as 200ms, $22 deadlines timestamptz[]
-- fence: primary key of dedupe, in its order; a take-over compares the run that counted before; a run that is replaced is not
--   running, and is locked in the order of ids
with patience as materialized (
  select set_config('lock_timeout', $21::text, true) as limited
), input as materialized (
  select i.*,
         i.run_at > clock_timestamp() + $17::bigint * interval '1 millisecond' as is_far_future,
         h.run_id as held_id, h.counts is true as counts
  from unnest(
    $1::uuid[], $2::uuid[], $3::int[], $4::smallint[], $5::int[], $6::smallint[], $7::bigint[], $8::timestamptz[],
    $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $18::text[],
    $19::text[], $20::bigint[], $22::timestamptz[]
  ) as i (id, job_id, namespace_id, shard, lane, priority, rank, run_at, nominal_at, trigger, task, queue, payload, policy,
          labels, owner, key, action, window_ms, deadline_at)
  cross join patience
  left join lateral (
    select d.run_id,
           exists (select from carillon.run r where r.id = any (array[d.run_id]))
             or exists (select from carillon.far_future_run l where l.namespace_id = any (array[d.namespace_id]) and l.id = d.run_id)
             or exists (
               select from carillon.job_due w join carillon.job j on j.id = any (array[w.job_id])
               where w.job_id = any (array[d.run_id]) and w.runs_made = 0 and w.state in ('active', 'paused') and j.schedule ->> 'kind' = 'at'
             )
             or d.window_ms is not null and exists (
               select from carillon.run_history e
               where e.id = any (array[d.run_id]) and e.finished_at > statement_timestamp() - d.window_ms * interval '1 millisecond'
             ) as counts
    from carillon.dedupe d
    where d.namespace_id = any (array[i.namespace_id]) and d.task = i.task and d.key = i.key
  ) h on true
), won as (
  insert into carillon.dedupe as d (namespace_id, task, key, run_id, replaces, window_ms, created_at, check_at)
  select namespace_id, task, key, id, held_id, window_ms, clock_timestamp(),
         greatest(run_at, clock_timestamp()) + interval '1 minute'
  from input
  where (not counts or action = 'replace') and held_id is distinct from id
  order by namespace_id, task, key
  on conflict (namespace_id, task, key) do update
  set run_id = excluded.run_id, replaces = excluded.replaces, window_ms = excluded.window_ms,
      created_at = excluded.created_at, check_at = excluded.check_at
  where d.run_id = excluded.replaces
  returning run_id, replaces, namespace_id
), pick as materialized (
  select r.id from carillon.run r
  where r.id = any (array(select replaces from won where replaces is not null)) and r.state <> 'running'
  order by r.id
  for update of r
), ended as (
  delete from carillon.run r using pick p where r.id = any (array[p.id]) returning r.*
), pick_far_future as materialized (
  select l.namespace_id, l.id
  from carillon.far_future_run l join won w on l.namespace_id = any (array[w.namespace_id]) and l.id = w.replaces
  order by l.id
  for update of l
), ended_far_future as (
  delete from carillon.far_future_run l using pick_far_future p
  where l.namespace_id = any (array[p.namespace_id]) and l.id = p.id
  returning l.*
), ended_planned as materialized (
  select t.*
  from (select namespace_id, array_agg(replaces) as ids from won where replaces is not null group by namespace_id) w
  cross join lateral carillon.cancel_planned_runs(w.namespace_id, w.ids, 'cancelled_by_dedupe') t
  where exists (select from input where counts and action = 'replace')
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', 'cancelled_by_dedupe', priority, run_at, nominal_at, created_at, trigger, task,
         queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null::json,
         null::json, attempts, version
  from ended
  union all
  select e.id, e.id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.run_at, e.created_at, 'once',
         l.task, l.queue, e.payload, e.policy, e.labels, e.owner, 0, 0, 0, null, null, clock_timestamp(), null, null, null, null
  from ended_far_future e join carillon.lane l on l.id = e.lane
), near as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner, deadline_at)
  select id, job_id, namespace_id, shard, lane, case when run_at <= clock_timestamp() then 'queued' else 'scheduled' end,
         priority, rank, run_at, nominal_at, clock_timestamp(), trigger, task, queue, payload::json, policy::json,
         labels::jsonb, owner, deadline_at
  from input
  where not is_far_future and (id in (select run_id from won)) is true
  returning id, state, created_at
), far_future as (
  insert into carillon.far_future_run (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels,
                                  owner, deadline_at)
  select id, run_at, clock_timestamp(), rank, namespace_id, lane, shard, priority, payload::json, policy::json,
         labels::jsonb, owner, deadline_at
  from input
  where is_far_future and (id in (select run_id from won)) is true
  returning id, created_at
)
select id, state, created_at, null::uuid as held_id, null::uuid as "jobId", null::int as "namespaceId", null::text as task,
       null::text as queue
from near
union all
select id, 'far_future', created_at, null, null, null, null, null from far_future
union all
select id, case when counts and action <> 'replace' or held_id = id then 'held' else 'beaten' end, null, held_id, null, null, null, null
from input where (id in (select run_id from won)) is not true
union all
select id, 'left', null, held_id, null, null, null, null
from input
where counts and (id in (select run_id from won)) is true
  and (held_id in (select id from ended union all select id from ended_far_future union all select id from ended_planned)) is not true
union all
select id, 'ended', null, null, job_id, namespace_id, task, queue from ended
union all
select e.id, 'ended', null, null, e.id, e.namespace_id, l.task, l.queue
from ended_far_future e join carillon.lane l on l.id = e.lane
union all
select id, 'ended', null, null, id, namespace_id, task, queue from ended_planned;

-- name: dedupe.end_left
-- purpose: ends runs that were replaced while they moved from one table to the other, or while their job was changed or made them, unless
--   a worker has them
-- params: $1 ids uuid[], $2 their namespaces int[]
-- fence: the row's lock, taken in the order of ids; one that runs stays
with pick as materialized (
  select r.id from carillon.run r where r.id = any ($1::uuid[]) and r.state <> 'running' order by r.id for update of r
), ended as (
  delete from carillon.run r using pick p where r.id = any (array[p.id]) returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', 'cancelled_by_dedupe', priority, run_at, nominal_at, created_at, trigger, task, queue,
         payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null, null, attempts,
         version
  from ended
)
select id from ended
union all
select t.id
from (select i.namespace_id, array_agg(i.id) as ids from unnest($1::uuid[], $2::int[]) as i (id, namespace_id) group by i.namespace_id) w
cross join lateral carillon.cancel_planned_runs(w.namespace_id, w.ids, 'cancelled_by_dedupe') t;

-- name: dedupe.sweep
-- purpose: removes rows whose run counts no more; looks again later at those whose run does
-- params: $1 limit int
-- fence: the run that the snapshot saw in the row; a row that was taken over meanwhile stays
with seen as materialized (
  select d.namespace_id, d.task, d.key, d.run_id, d.created_at, l.is_live, h.finished_at, d.window_ms,
         l.is_live or d.window_ms is not null
           and h.finished_at > statement_timestamp() - d.window_ms * interval '1 millisecond' as counts
  from (select * from carillon.dedupe where check_at <= statement_timestamp() order by check_at limit $1) d
  cross join lateral (
    select exists (select from carillon.run r where r.id = any (array[d.run_id]))
             or exists (select from carillon.far_future_run f where f.namespace_id = any (array[d.namespace_id]) and f.id = d.run_id)
             or exists (
               select from carillon.job_due w join carillon.job j on j.id = any (array[w.job_id])
               where w.job_id = any (array[d.run_id]) and w.runs_made = 0 and w.state in ('active', 'paused') and j.schedule ->> 'kind' = 'at'
             ) as is_live
  ) l
  left join lateral (
    select e.finished_at from carillon.run_history e where d.window_ms is not null and not l.is_live and e.id = any (array[d.run_id]) limit 1
  ) h on true
), gone as (
  delete from carillon.dedupe d using seen s
  where d.namespace_id = any (array[s.namespace_id]) and d.task = s.task and d.key = s.key and d.run_id = s.run_id
    and s.counts is not true
  returning 1
), kept as (
  update carillon.dedupe d
  set check_at = case
    when s.is_live then clock_timestamp() + least(greatest(clock_timestamp() - s.created_at, interval '1 minute'), interval '1 hour')
    else s.finished_at + s.window_ms * interval '1 millisecond'
  end
  from seen s
  where d.namespace_id = any (array[s.namespace_id]) and d.task = s.task and d.key = s.key and d.run_id = s.run_id and s.counts
  returning 1
)
select (select count(*) from gone) as gone, (select count(*) from kept) as kept;
