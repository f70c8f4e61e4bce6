-- How runs come to sessions: completing and claiming in one statement, strict queues, and the runs that a session holds.

-- Why keys are compared as they are, here and in the other files. A plan may be made while a table is empty: then it costs nothing to walk
-- through an index, and the plan goes on doing so when the table has grown. The planner thinks of such a walk only for a reason, and
-- statements that go by keys give it none:
--   order, for a join: r.id = any (array[i.id]) finds the row, but nothing can be merged or hashed by it. Of a key of several columns
--     the first is written so, and whatever else an index begins with
--   order, for the answer: order by i.id, not by r.id; union all, or a common table expression, where a union would sort
--   the predicate of a partial index: coalesce(next_fire_at, 'infinity') <= clock_timestamp() does not imply it
--   no other column: (select … limit 1) is null is a lookup for each row; not exists may become a join
-- (kind = 'rate') is true is no condition for an index, where another index is the right one; offset 0 keeps a lookup apart from what
-- is made of it. An index finds what is due by statement_timestamp(), since clock_timestamp() changes from row to row.

-- name: run.complete_and_claim
-- purpose: moves runs that succeeded into history and hands queued runs to waiting sessions, in one commit. Of each lane the
--   first few in rank order are looked at from a lower bound on; of all these the first get a place each. Answers the claimed
--   runs (seat: the index of its session in $6), with null for what is as usual, which costs neither side anything; and in a last
--   row what became of those that succeeded: how many, which (if not all), whose jobs are freed. Instants come and go as numbers
--   of ms: to write and read them as text takes longer than to find a run
-- params: $1 ids uuid[], $2 fences bigint[], $3 their sessions uuid[], $4 outputs text[], $5 started at, ms float8[],
--         $6 waiting sessions uuid[], $7 places, as indexes into $6 int[], $8 how many of the places are free slots int,
--         $9 lanes int[], $10 namespace ids int[], $11 lower bounds of rank bigint[], $12 most of each int[], $13 solo boolean[],
--         $14 gateway uuid, $15 revision of the limits that the reads go by bigint
-- fence: (id, fence, session) on a running row; a claim needs its session's row (key share lock) with this gateway and no later
--   revision of limits in it, skips what is locked, and has a higher fence than any before. Sessions are locked
--   when a run was found for them: a look that finds none writes nothing
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::float8[])
    as i (id, fence, session_id, output, begun_ms)
  where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.id, r.job_id, r.serial, r.namespace_id, r.priority, r.run_at, r.nominal_at, r.created_at, r.trigger, r.task, r.queue,
            r.payload, r.policy, r.labels, r.owner, r.attempt, r.losses, r.fence, r.session_id, r.claimed_at, r.attempts, r.version,
            i.output, i.begun_ms
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'succeeded', null, priority, run_at, nominal_at, created_at, trigger, task, queue, payload,
         policy, labels, owner, attempt + 1, losses, fence, session_id, greatest(to_timestamp(begun_ms / 1000), claimed_at),
         clock_timestamp(), output::json, null, attempts, version
  from ended
), alive as materialized (
  select id from carillon.worker_session
  where id = any ($6::uuid[]) and gateway_id = $14::uuid and limits_revision <= $15::bigint
  order by id
  for key share
), pick as materialized (
  select q.place, q.solo, row_number() over (order by q.rank, q.id) as number
  from (
    select q.ctid as place, q.id, q.rank, l.solo
    from unnest($9::int[], $10::int[], $11::bigint[], $12::int[], $13::boolean[]) as l (lane, namespace_id, low, most, solo)
    cross join lateral (
      select r.ctid, r.id, r.rank from carillon.run r
      where r.lane = l.lane and r.namespace_id = l.namespace_id and r.stage = 1 and r.state = 'queued' and r.rank >= l.low
        and r.run_at <= statement_timestamp()
      order by r.rank
      limit l.most
      for update of r skip locked
    ) q
    order by q.rank, q.id
    limit cardinality($7::int[])
  ) q
), given as materialized (
  select place, solo, ($7::int[])[number] as seat, ($6::uuid[])[($7::int[])[number]] as session_id
  from pick where not solo or number <= $8::int
), claimed as (
  update carillon.run r
  set state = 'running', session_id = g.session_id, fence = r.fence + 1, claimed_at = clock_timestamp(),
      started_at = case when g.solo then clock_timestamp() end, state_reason = null
  from given g
  where r.ctid = g.place and (g.session_id in (select id from alive)) is true
  returning r.id, nullif(r.job_id, r.id) as job_id, nullif(r.job_id is null, false) as is_without_job, r.namespace_id, r.lane,
            g.seat, r.payload::text as payload, r.policy, nullif(r.attempt, 0) as attempt, nullif(r.losses, 0) as losses,
            nullif(r.fence, 1) as fence, r.rank, nullif(r.priority, 4) as priority,
            round(date_part('epoch', r.run_at) * 1000) as run_at,
            round(date_part('epoch', nullif(r.nominal_at, r.run_at)) * 1000) as nominal_at,
            nullif(r.trigger, 'once') as trigger, r.cancel_reason, round(date_part('epoch', r.deadline_at) * 1000) as deadline_at
)
select c.*, null::bigint as ended, null::uuid[] as ended_ids, null::uuid[] as freed_job_ids from claimed c
union all
select null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
       count(*), case when count(*) < cardinality($1::uuid[]) then array_agg(id) end, array_agg(job_id) filter (where serial)
from ended;

-- name: run.complete_and_claim_shared
-- purpose: as run.complete_and_claim, for sessions that serve several namespaces: of each the first few, in rank order, and of all these those
--   that come first when every namespace takes its turns in proportion to what it may have
-- params: $1 ids uuid[], $2 fences bigint[], $3 their sessions uuid[], $4 outputs text[], $5 started at, ms float8[],
--         $6 waiting sessions uuid[], $7 places, as indexes into $6 int[], $8 how many of the places are free slots int,
--         $9 lanes int[], $10 namespace ids int[], $11 lower bounds of rank bigint[], $12 most of each int[], $13 solo boolean[],
--         $14 gateway uuid, $15 revision of the limits that the reads go by bigint, $16 most of the lane's namespace int[]
-- fence: (id, fence, session) on a running row; a claim needs its session's row (key share lock) with this gateway and no later
--   revision of limits in it, skips what is locked, and has a higher fence than any before. Sessions are locked
--   when a run was found for them: a look that finds none writes nothing
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::float8[])
    as i (id, fence, session_id, output, begun_ms)
  where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.id, r.job_id, r.serial, r.namespace_id, r.priority, r.run_at, r.nominal_at, r.created_at, r.trigger, r.task, r.queue,
            r.payload, r.policy, r.labels, r.owner, r.attempt, r.losses, r.fence, r.session_id, r.claimed_at, r.attempts, r.version,
            i.output, i.begun_ms
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'succeeded', null, priority, run_at, nominal_at, created_at, trigger, task, queue, payload,
         policy, labels, owner, attempt + 1, losses, fence, session_id, greatest(to_timestamp(begun_ms / 1000), claimed_at),
         clock_timestamp(), output::json, null, attempts, version
  from ended
), alive as materialized (
  select id from carillon.worker_session
  where id = any ($6::uuid[]) and gateway_id = $14::uuid and limits_revision <= $15::bigint
  order by id
  for key share
), pick as materialized (
  select q.place, q.solo, row_number() over (order by q.turn, q.rank, q.id) as number
  from (
    select q.ctid as place, q.id, q.rank, l.solo, l.quota,
           (row_number() over (partition by l.namespace_id order by q.rank, q.id) - 1)::real / l.quota as turn
    from unnest($9::int[], $10::int[], $11::bigint[], $12::int[], $13::boolean[], $16::int[])
      as l (lane, namespace_id, low, most, solo, quota)
    cross join lateral (
      select r.ctid, r.id, r.rank from carillon.run r
      where r.lane = l.lane and r.namespace_id = l.namespace_id and r.stage = 1 and r.state = 'queued' and r.rank >= l.low
        and r.run_at <= statement_timestamp()
      order by r.rank
      limit l.most
      for update of r skip locked
    ) q
  ) q
  where q.turn < 1
  order by q.turn, q.rank, q.id
  limit cardinality($7::int[])
), given as materialized (
  select place, solo, ($7::int[])[number] as seat, ($6::uuid[])[($7::int[])[number]] as session_id
  from pick where not solo or number <= $8::int
), claimed as (
  update carillon.run r
  set state = 'running', session_id = g.session_id, fence = r.fence + 1, claimed_at = clock_timestamp(),
      started_at = case when g.solo then clock_timestamp() end, state_reason = null
  from given g
  where r.ctid = g.place and (g.session_id in (select id from alive)) is true
  returning r.id, nullif(r.job_id, r.id) as job_id, nullif(r.job_id is null, false) as is_without_job, r.namespace_id, r.lane,
            g.seat, r.payload::text as payload, r.policy, nullif(r.attempt, 0) as attempt, nullif(r.losses, 0) as losses,
            nullif(r.fence, 1) as fence, r.rank, nullif(r.priority, 4) as priority,
            round(date_part('epoch', r.run_at) * 1000) as run_at,
            round(date_part('epoch', nullif(r.nominal_at, r.run_at)) * 1000) as nominal_at,
            nullif(r.trigger, 'once') as trigger, r.cancel_reason, round(date_part('epoch', r.deadline_at) * 1000) as deadline_at
)
select c.*, null::bigint as ended, null::uuid[] as ended_ids, null::uuid[] as freed_job_ids from claimed c
union all
select null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
       count(*), case when count(*) < cardinality($1::uuid[]) then array_agg(id) end, array_agg(job_id) filter (where serial)
from ended;

-- name: run.claim_strict
-- purpose: hands the first queued run of a strict queue to a session, if the queue's slot is free and the session can do it: the
--   first is waited for, whoever can do it, and nothing overtakes it
-- params: $1 namespace id int, $2 queue text, $3 lanes that the session serves int[], $4 session uuid, $5 gateway uuid, $6 those of the
--         lanes of which a run may only be tried for a breaker that is open int[], $7 the names of these breakers text[]
-- fence: slot_version on the locked row of the queue, as it was when the claim that has the slot was seen to be over, which it
--   then is for ever; the session's row as in run.complete_and_claim. For a run that is tried probe_by on the locked row of the breaker, and
--   probe_version in the same way as slot_version: one run is tried at a time, of whatever queue
with seen as materialized (
  select q.slot_version
  from carillon.queue q
  where q.namespace_id = $1 and q.name = $2 and q.order_kind = 'strict' and q.pause is null
    and not exists (
      select 1 from carillon.run r where r.id = any (array[q.slot_run_id]) and r.fence = q.slot_fence and r.state = 'running'
    )
), alive as materialized (
  select id from carillon.worker_session where id = $4 and gateway_id = $5 for key share
), head as materialized (
  select f.id, f.lane
  from carillon.lane l
  cross join lateral (
    select r.id, r.lane, r.rank from carillon.run r
    where r.lane = l.id and r.namespace_id = $1 and r.stage = 1 and r.state = 'queued' and r.run_at <= statement_timestamp()
    order by r.rank, r.id
    limit 1
  ) f
  where l.queue = $2 and l.kind in ('strict', 'strict_once') and exists (select 1 from seen) and exists (select 1 from alive)
  order by f.rank, f.id
  limit 1
), trial as materialized (
  select t.breaker from unnest($6::int[], $7::text[]) as t (lane, breaker) where t.lane = (select h.lane from head h)
), untried as materialized (
  select b.probe_version
  from carillon.breaker b
  where b.namespace_id = $1 and b.name = (select t.breaker from trial t) and b.state = 'half_open' and b.probe_by = $5
    and not exists (
      select 1 from carillon.run r where r.id = any (array[b.probe_run_id]) and r.fence = b.probe_fence and r.state = 'running'
    )
), probe as materialized (
  select b.ctid as place
  from carillon.breaker b join untried u on u.probe_version = b.probe_version
  where b.namespace_id = $1 and b.name = (select t.breaker from trial t) and b.state = 'half_open' and b.probe_by = $5
  for update of b skip locked
), slot as materialized (
  select q.ctid as place
  from carillon.queue q join seen s on s.slot_version = q.slot_version
  where q.namespace_id = $1 and q.name = $2 and (select h.lane from head h) = any ($3::int[])
    and (not exists (select 1 from trial) or exists (select 1 from probe))
  for update of q skip locked
), pick as materialized (
  select r.ctid as place, r.id, r.fence
  from carillon.run r
  where r.id = (select h.id from head h) and r.state = 'queued' and exists (select 1 from slot)
  for update of r skip locked
), taken as (
  update carillon.queue q
  set slot_run_id = p.id, slot_fence = p.fence + 1, slot_version = q.slot_version + 1
  from slot s, pick p
  where q.ctid = s.place
), tried as (
  update carillon.breaker b
  set probe_run_id = p.id, probe_fence = p.fence + 1, probe_version = b.probe_version + 1
  from probe t, pick p
  where b.ctid = t.place
)
update carillon.run r
set state = 'running', session_id = $4, fence = r.fence + 1, claimed_at = clock_timestamp(), started_at = clock_timestamp(),
    state_reason = null
from pick p
where r.ctid = p.place
returning r.id, r.job_id, r.namespace_id, r.lane, r.session_id, r.payload::text as payload, r.policy, r.attempt, r.losses,
          r.fence, r.rank, r.priority, r.run_at, r.nominal_at, r.trigger, r.cancel_reason, r.deadline_at;

-- name: run.are_waiting
-- purpose: whether some run of these lanes waits for a worker
-- params: $1 namespace id int, $2 lanes int[]
-- fence: none, a read
select exists (
  select 1
  from unnest($2::int[]) as l (lane)
  cross join lateral (
    select r.id from carillon.run r
    where r.lane = l.lane and r.namespace_id = $1 and r.stage = 1 and r.state = 'queued' and r.run_at <= statement_timestamp()
    order by r.rank
    limit 1
  ) q
) as waiting;

-- name: run.held
-- purpose: what sessions hold, for those that do not know the outcome of a claim; asked only then, since no index serves it
-- params: $1 sessions uuid[]
-- fence: none, a read; whatever is done about a run carries the fence of its claim
select id, job_id, namespace_id, lane, session_id, payload::text as payload, policy, attempt, losses, fence, rank, priority, run_at,
       nominal_at, trigger, cancel_reason, deadline_at, started_at
from carillon.run
where state = 'running' and session_id = any ($1::uuid[]);

-- name: run.handed
-- purpose: of these runs, those that were stored for a session (run.insert_handed) and that it has held since
-- params: $1 session uuid, $2 ids uuid[]
-- fence: none, a read; whatever is done about a run carries the fence of its claim
select id, job_id, namespace_id, lane, session_id, payload::text as payload, policy, attempt, losses, fence, rank, priority, run_at,
       nominal_at, trigger, cancel_reason, deadline_at
from carillon.run
where id = any ($2::uuid[]) and state = 'running' and session_id = $1 and fence = 1 and claimed_at = created_at;

-- name: run.handed_of_lanes
-- purpose: the runs of these lanes that were stored for sessions and that these have held since, for a gateway that may not have heard of some
-- params: $1 lanes int[], $2 namespace ids int[], $3 sessions uuid[]
-- fence: none, a read
select r.id, r.session_id as "sessionId", l.lane, l.namespace_id as "namespaceId"
from unnest($1::int[], $2::int[]) as l (lane, namespace_id)
cross join lateral (
  select r.id, r.session_id from carillon.run r
  where r.lane = l.lane and r.namespace_id = l.namespace_id and r.stage = 1 and r.state = 'running'
    and r.session_id = any ($3::uuid[]) and r.fence = 1 and r.claimed_at = r.created_at
  offset 0
) r;

-- name: run.recall
-- purpose: runs that a session holds and that this node does not know of
-- params: $1 session uuid, $2 ids uuid[]
-- fence: none, a read; whatever is done about a run carries the fence of its claim
select id, job_id, namespace_id, lane, session_id, payload::text as payload, policy, attempt, losses, fence, rank, priority, run_at,
       nominal_at, trigger, cancel_reason, deadline_at, started_at
from carillon.run
where id = any ($2::uuid[]) and state = 'running' and session_id = $1;

-- name: run.started
-- purpose: notes that claimed runs were begun: only their loss counts, and their time runs
-- params: $1 session uuid, $2 ids uuid[], $3 fences bigint[], $4 how long ago, in ms, bigint[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set started_at = greatest(r.claimed_at, clock_timestamp() - i.ago_ms * interval '1 millisecond')
from unnest($2::uuid[], $3::bigint[], $4::bigint[]) as i (id, fence, ago_ms)
where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = $1 and r.state = 'running' and r.started_at is null
returning r.id;

-- name: run.stops
-- purpose: which of the runs that sessions hold are to stop
-- params: $1 ids uuid[]
-- fence: none, a read; the order names the fence of the claim that it is for
select id, fence, cancel_reason as reason from carillon.run
where id = any ($1::uuid[]) and state = 'running' and cancel_reason is not null;
