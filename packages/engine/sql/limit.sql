-- Limits. A run with limits is queued in a lane that no worker is served from (gated), or in a queue that has limits. Intake moves it behind
-- its gate: it is blocked, with its limits written down. Admission locks the rows of the limits, and only in later statements
-- reads who holds them and who waits. Whoever holds a limit has a row of limit_hold, and holds it for as long as the run's own row says so: a
-- run that ended in whatever way holds nothing, although its row of limit_hold may still be there.

-- name: limit.intake
-- purpose: runs that were queued and whose limits are not written down yet
-- params: $1 lanes int[], $2 their namespaces or null for all int[], $3 most of each int, $4 most of all int
-- fence: the row's lock
select r.id, r.namespace_id, r.job_id, r.lane, r.task, r.queue, r.payload, r.policy
from unnest($1::int[], $2::int[]) as l (lane, namespace_id)
cross join lateral (
  select * from carillon.run r
  where r.lane = l.lane and r.stage = 1 and r.state = 'queued' and (l.namespace_id is null or r.namespace_id = l.namespace_id)
  limit $3
  for update of r skip locked
) r
limit $4;

-- name: limit.block
-- purpose: puts runs behind their gates, in the lane from which they are handed out once they are admitted
-- params: $1 ids uuid[], $2 limits text[], $3 lanes int[]
-- fence: state on the row, which this transaction holds
update carillon.run r
set state = 'blocked', state_reason = null, limits = i.limits, lane = i.lane
from unnest($1::uuid[], $2::text[], $3::int[]) as i (id, limits, lane)
where r.id = i.id and r.state = 'queued'
returning r.id;

-- name: limit.refuse
-- purpose: ends runs whose limits cannot be told from their payload; answers as run.finish does
-- params: $1 ids uuid[], $2 errors text[], $3 fingerprints text[]
-- fence: state on the row, which this transaction holds
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::text[], $3::text[]) as i (id, error, fingerprint)
  where r.id = i.id and r.state = 'queued'
  returning r.*, i.error, i.fingerprint
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, 'failed', 'limit_invalid', priority, run_at, nominal_at, created_at, trigger, task, queue,
         payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null, error::json,
         attempts, version, fingerprint
  from ended
)
select id, case when serial then job_id end as freed_job_id from ended;

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
-- fence: the lock on the revision's row, which this transaction has: no session is opened meanwhile. The lock on each session's row:
--   claims that are under way end first, later ones find another revision in it
with locked as materialized (
  select id from carillon.worker_session order by id for update
)
update carillon.worker_session s set limits_revision = r.value
from locked, carillon.revision r
where s.id = locked.id and r.name = 'limits';

-- name: limit.recount
-- purpose: limits that a queue or a namespace has from now on: they have no room until those are counted that are at work already
-- params: $1 namespace id int, $2 scope text, $3 name text, $4 kinds text[], $5 limits int[], $6 per ms bigint[], $7 bursts int[]
-- fence: unique (namespace_id, scope, kind, name); the owner's row is locked
insert into carillon.limit_key (namespace_id, scope, kind, name, most, per_ms, burst, defined_at, is_counted)
select $1, $2, i.kind, $3, i.most, i.per_ms, i.burst, clock_timestamp(), false
from unnest($4::text[], $5::int[], $6::bigint[], $7::int[]) as i (kind, most, per_ms, burst)
order by i.kind
on conflict (namespace_id, scope, kind, name) do update set is_counted = false;

-- name: limit.dismiss
-- purpose: limits that a queue or a namespace had: nobody has to be counted for them
-- params: $1 namespace id int, $2 scope text, $3 name text, $4 kinds text[]
-- fence: the row's lock; the owner's row is locked
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
where k.id = u.id;

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

-- name: limit.heads
-- purpose: the first runs behind each gate, and what their queue and namespace say. Those with an ordering key stand in the order of
--   their times, the others in that of their ranks; one that waits for another run of its job is passed over
-- params: $1 gates text[], $2 most of each int
-- fence: none, a read; sent after the limits are locked it sees what the one before committed. The admission compares each row again.
--   The rows of queue and namespace stay as they are until the admission is over: who sets limits waits for it
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
insert into carillon.limit_key (namespace_id, scope, kind, name, most, per_ms, burst, on_failure, defined_at)
select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::int[], $6::bigint[], $7::int[], $8::text[],
                     $9::timestamptz[])
order by 1, 2, 3, 4
on conflict (namespace_id, scope, kind, name) do nothing;

-- name: limit.lock
-- purpose: takes limits for an admission, by name and by id; waits for whoever admits now
-- params: $1 namespace ids int[], $2 scopes text[], $3 kinds text[], $4 names text[], $5 ids bigint[]
-- fence: the row locks, in the order of ids; what decides is read in later statements
select k.id, k.namespace_id, k.scope, k.kind, k.name, k.most, k.per_ms, k.burst, k.on_failure, k.is_fixed, k.defined_at, k.used,
       k.starts, k.stopped_by, k.is_counted, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
from carillon.limit_key k
where k.id = any ($5::bigint[])
   or (k.namespace_id, k.scope, k.kind, k.name) in (select * from unnest($1::int[], $2::text[], $3::text[], $4::text[]))
order by k.id
for update of k;

-- name: limit.disposed
-- purpose: which failed runs somebody has retried or discarded: what waits for them may go on
-- params: $1 ids uuid[]
-- fence: none, a read; sent after the limits are locked
select r.run_id from carillon.redrive r where r.run_id = any ($1::uuid[]) and r.kind <> 'replay';

-- name: limit.release
-- purpose: removes the holds of runs that hold their limits no longer, and tells when they started and how they ended. A concurrency limit is
--   held from the admission to the end of the claim that follows it, a rate until that claim, an ordering key to the end of the run
-- params: $1 limit ids bigint[], $2 run ids uuid[] or null for all
-- fence: the limits are locked: only who holds them lets a run begin to hold, and whoever ceased to hold does not hold again without it
with over as materialized (
  select h.limit_id, h.run_id, h.fence, h.gate, h.admitted_at, k.kind, r.id as live_id, r.fence as run_fence, r.claimed_at
  from carillon.limit_hold h
  join carillon.limit_key k on k.id = h.limit_id
  left join carillon.run r on r.id = h.run_id
  where h.limit_id = any ($1::bigint[]) and ($2::uuid[] is null or h.run_id = any ($2))
    and case k.kind
      when 'order' then r.id is null
      when 'rate' then (r.state = 'queued' and r.fence = h.fence) is not true
      else (r.state = 'queued' and r.fence = h.fence or r.state = 'running' and r.fence = h.fence + 1) is not true
    end
), gone as (
  delete from carillon.limit_hold h using over o
  where h.limit_id = o.limit_id and h.run_id = o.run_id and h.fence = o.fence
)
select o.limit_id, o.run_id, o.gate, e.status = 'failed' as has_failed,
       ceil(extract(epoch from case
         when o.live_id is not null then case when o.run_fence > o.fence then o.claimed_at end
         when e.fence is null then clock_timestamp()
         when e.fence > o.fence then coalesce(e.started_at, e.finished_at)
       end) * 1000)::bigint as started_ms
from over o
left join lateral (
  select h.status, h.fence, h.started_at, h.finished_at from carillon.run_history h
  where o.live_id is null and h.id = o.run_id and h.finished_at >= o.admitted_at
  limit 1
) e on true;

-- name: limit.holders
-- purpose: who holds ordering keys; one that waits for its next try goes before those that were never admitted
-- params: $1 limit ids bigint[]
-- fence: none, a read; sent after the limits are locked. The rows of queue and namespace stay as they are, as in limit.heads
select h.limit_id, h.run_id, r.id, r.namespace_id, r.queue, r.rank, r.fence, r.lane, r.limits, r.created_at,
       r.state = 'blocked' and r.state_reason is distinct from 'overlap' as waits, q.pause is not null as is_paused,
       q.limits as queue_limits, n.limits as namespace_limits
from carillon.limit_hold h
join carillon.run r on r.id = h.run_id
join carillon.queue q on q.namespace_id = r.namespace_id and q.name = r.queue
join carillon.namespace n on n.id = r.namespace_id
where h.limit_id = any ($1::bigint[])
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
  from carillon.run r join unnest($1::uuid[], $2::bigint[]) as i (id, fence) on i.id = r.id
  where r.fence = i.fence and r.state = 'blocked' and r.state_reason is distinct from 'overlap'
  order by r.id
  for update of r skip locked
), admitted as (
  update carillon.run r set state = 'queued', state_reason = null from pick p where r.id = p.id
  returning r.id, r.lane, r.rank
), held as (
  insert into carillon.limit_hold (limit_id, run_id, fence, gate, admitted_at)
  select i.limit_id, i.run_id, i.fence, i.gate, clock_timestamp()
  from unnest($3::bigint[], $4::uuid[], $5::bigint[], $6::text[]) as i (limit_id, run_id, fence, gate)
  where (i.run_id in (select id from admitted)) is true
  on conflict (limit_id, run_id, fence) do nothing
  returning limit_id
), counted as (
  update carillon.limit_key k
  set most = i.most, per_ms = i.per_ms, burst = i.burst, on_failure = i.on_failure, defined_at = i.defined_at,
      used = i.used + (select count(*) from held where held.limit_id = i.id), starts = i.starts::bigint[],
      stopped_by = i.stopped_by, swept_at = case when $16 then clock_timestamp() else k.swept_at end,
      used_at = clock_timestamp()
  from unnest($7::bigint[], $8::int[], $9::bigint[], $10::int[], $11::text[], $12::timestamptz[], $13::int[], $14::text[],
              $15::uuid[]) as i (id, most, per_ms, burst, on_failure, defined_at, used, starts, stopped_by)
  where k.id = i.id
)
select id, lane, rank from admitted;

-- name: limit.stop
-- purpose: cancels what waits behind a run that failed, for ordering keys that ask for it
-- params: $1 gates text[]
-- fence: state on the row; the limits are locked
with ended as (
  delete from carillon.run r
  where split_part(r.limits, E'\n', 1) = any ($1::text[]) and r.stage = 3 and r.limits like 'o:%'
  returning r.*
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
-- purpose: what runs hold, or held
-- params: $1 run ids uuid[], $2 only rates boolean
-- fence: none: a hint for the admission
select distinct h.limit_id, h.gate
from carillon.limit_hold h join carillon.limit_key k on k.id = h.limit_id
where h.run_id = any ($1::uuid[]) and (k.kind = 'rate' or not $2);

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
where k.id = idle.id and not exists (select from carillon.limit_hold h where h.limit_id = k.id)
returning k.id;

-- name: limit.list
-- purpose: a keyset page of limits that are in use or that an operator has set
-- params: $1 namespace id int, $2 after id bigint, $3 limit int, $4 scope, $5 kind, $6 name text or null
-- fence: none, a read
select id, namespace_id, scope, kind, name, most, per_ms, burst, on_failure, is_fixed, defined_at, used, starts, stopped_by, is_counted
from carillon.limit_key
where namespace_id = $1 and id > $2 and ($4::text is null or scope = $4) and ($5::text is null or kind = $5)
  and ($6::text is null or name = $6)
order by id
limit $3;

-- name: limit.waiting
-- purpose: who waits for limits, counted up to a limit, by what they wait for
-- params: $1 namespace id int, $2 most int
-- fence: none, a read
select w.limits, w.queue, count(*) as count, min(w.run_at) as oldest_at
from (
  select limits, queue, run_at from carillon.run
  where stage = 3 and limits is not null and namespace_id = $1
  limit $2
) w
group by w.limits, w.queue;

-- name: limit.fix
-- purpose: sets a limit by hand: what runs say of it does not count until it is given back
-- params: $1 namespace id int, $2 id bigint, $3 limit int or null, $4 per ms bigint or null, $5 burst int or null, $6 fixed boolean or
--         null, $7 goes on after a failure boolean; null stays
-- fence: the row's lock
update carillon.limit_key
set most = coalesce($3, most), per_ms = coalesce($4, per_ms), burst = coalesce($5, burst), is_fixed = coalesce($6, is_fixed),
    stopped_by = case when $7 then null else stopped_by end, used_at = clock_timestamp()
where namespace_id = $1 and id = $2
returning id, namespace_id, scope, kind, name, most, per_ms, burst, on_failure, is_fixed, defined_at, used, starts, stopped_by, is_counted;

-- name: limit.of_run
-- purpose: what a run waits for, and how many wait before it behind the same gate, counted up to a limit
-- params: $1 namespace id int, $2 run uuid, $3 most int
-- fence: none, a read
select r.limits, r.queue, q.limits as queue_limits, n.limits as namespace_limits, before.count as position
from carillon.run r
left join carillon.queue q on q.namespace_id = r.namespace_id and q.name = r.queue
join carillon.namespace n on n.id = r.namespace_id
cross join lateral (
  select count(*) from (
    select from carillon.run o
    where split_part(o.limits, E'\n', 1) = split_part(r.limits, E'\n', 1) and o.stage = 3 and o.limits is not null
      and case when r.limits like 'o:%' then (o.nominal_at, o.id) < (r.nominal_at, r.id) else (o.rank, o.id) < (r.rank, r.id) end
    limit $3
  ) as others
) as before
where r.namespace_id = $1 and r.id = $2 and r.stage = 3 and r.limits is not null;

-- name: limit.named
-- purpose: limits by name
-- params: $1 namespace id int, $2 scopes text[], $3 kinds text[], $4 names text[]
-- fence: none, a read
select k.id, k.namespace_id, k.scope, k.kind, k.name, k.most, k.per_ms, k.burst, k.on_failure, k.is_fixed, k.defined_at, k.used,
       k.starts, k.stopped_by, k.is_counted
from carillon.limit_key k
join unnest($2::text[], $3::text[], $4::text[]) as i (scope, kind, name)
  on k.namespace_id = $1 and k.scope = i.scope and k.kind = i.kind and k.name = i.name;
