-- The claims of runs: completing and claiming in one statement, strict queues, and the runs that a session holds.
--
--   stage   a generated column of run: 1 queued or running, 2 waits for its time, 3 blocked. It is the predicate of the partial indexes
--   solo    the lane's runs are assigned only to a slot that is free at once, with the start recorded
--   fence   the low 32 bits count the claims of the run, the rest (fence_floor of the session) counts the histories of the database: after a
--           failover the row may not show the last claims, and the next claim must have another fence than each of them. A run that is
--           stored for a session (run.insert_direct) is claimed once by that
--   seat    the index of a claimed run's session in :waiting_session_ids, from 1
--   from_rank, max_runs   of each lane a claim reads the first runs from this rank on
--
-- Why keys are compared as they are, here and in the other files. A plan may be made while a table is empty: then walking through an
-- index costs nothing, and the plan is still used when the table has grown. The planner considers such a walk only for a reason, and
-- statements that find rows by keys give it none:
--   order, for a join: run.id = any (array[input.id]) finds the row, but allows no merge or hash join. Of a key of several columns
--     the first is written so, and so is every other column with which an index begins
--   order, for the answer: order by input.id, not by run.id; union all, or a common table expression, where a union would sort
--   the predicate of a partial index: coalesce(next_fire_at, 'infinity') <= clock_timestamp() does not imply it
--   no other column: (select … limit 1) is null is a lookup for each row; not exists may become a join
-- (kind = 'rate') is true is no condition for an index, where another index is the right one; offset 0 keeps a lookup apart from the
-- query around it. An index finds due rows by statement_timestamp(), since clock_timestamp() changes from row to row.

-- part: run.archive_succeeded
-- purpose: the beginning of run.complete_and_claim: moves runs that succeeded into history, and locks the waiting sessions
-- fence: (id, fence, session) on a running row; the sessions' rows with this gateway and no later revision of limits. Sessions are
--   locked when a run was found for them: a claim that finds none writes nothing
with ended as (
  delete from carillon.run
  using unnest(:ids::uuid[], :fences::bigint[], :session_ids::uuid[], :outputs::text[], :started_ms::float8[])
    as input (id, fence, session_id, output, started_ms)
  where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
  returning run.id, run.job_id, run.serial, run.namespace_id, run.priority, run.run_at, run.nominal_at, run.created_at, run.trigger,
            run.task, run.queue, run.payload, run.policy, run.labels, run.owner, run.attempt, run.losses, run.fence, run.session_id,
            run.claimed_at, run.attempts, run.version, input.output, input.started_ms
), archived as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'succeeded', null, priority, run_at, nominal_at, created_at, trigger, task, queue, payload,
         policy, labels, owner, attempt + 1, losses, fence, session_id, greatest(to_timestamp(started_ms / 1000), claimed_at),
         statement_timestamp(), output::json, null, attempts, version
  from ended
), live_session as materialized (
  select id, fence_floor from carillon.worker_session
  where id = any (:waiting_session_ids::uuid[]) and gateway_id = :gateway_id::uuid and limits_revision <= :limits_revision::bigint
  order by id
  for key share
)

-- part: run.queued_of_lane
-- purpose: the first queued runs of one lane of one namespace (lane_read), locked for a claim
select run.ctid, run.id, run.rank from carillon.run
where run.lane = lane_read.lane and run.namespace_id = lane_read.namespace_id and run.stage = 1 and run.state = 'queued'
  and run.rank >= lane_read.from_rank
  and run.run_at <= statement_timestamp()
order by run.rank
limit lane_read.max_runs
for update of run skip locked

-- part: run.claim_picked
-- purpose: the end of run.complete_and_claim: assigns the picked runs to slots, claims them, and answers. A column with its usual value
--   is null, which costs neither side anything. Instants are numbers of ms: to write and read them as text takes longer than to find a
--   run. The last row has the number of runs that succeeded, their ids (if not all were accepted), the jobs that are freed, and the
--   time at which these runs finished
-- fence: a claim needs its session's locked row, and has a higher fence than any before
, assigned as materialized (
  select row_place, solo, (:slots::int[])[number] as seat, (:waiting_session_ids::uuid[])[(:slots::int[])[number]] as session_id
  from picked where not solo or number <= :free_slots::int
), claimed as (
  update carillon.run
  set state = 'running', session_id = assigned.session_id, claimed_at = clock_timestamp(),
      fence = greatest(run.fence, run.fence % 4294967296 + (select max(fence_floor) from live_session)) + 1,
      started_at = case when assigned.solo then clock_timestamp() end, state_reason = null
  from assigned
  where run.ctid = assigned.row_place and (assigned.session_id in (select id from live_session)) is true
  returning run.id, nullif(run.job_id, run.id) as job_id, nullif(run.job_id is null, false) as is_without_job, run.namespace_id,
            run.lane, assigned.seat, run.payload::text as payload, run.policy, nullif(run.attempt, 0) as attempt,
            nullif(run.losses, 0) as losses, nullif(run.fence, 1) as fence, run.rank, nullif(run.priority, 4) as priority,
            round(date_part('epoch', run.run_at) * 1000) as run_at,
            round(date_part('epoch', nullif(run.nominal_at, run.run_at)) * 1000) as nominal_at,
            nullif(run.trigger, 'once') as trigger, run.cancel_reason, round(date_part('epoch', run.deadline_at) * 1000) as deadline_at
)
select claimed.*, null::bigint as ended, null::uuid[] as ended_ids, null::uuid[] as freed_job_ids, null::timestamptz as finished_at
from claimed
union all
select null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
       count(*), case when count(*) < cardinality(:ids::uuid[]) then array_agg(id) end, array_agg(job_id) filter (where serial),
       statement_timestamp()
from ended

-- part: run.claimed_columns
-- purpose: the columns of a claimed run, for the gateway that serves it
id, job_id, namespace_id, lane, session_id, payload::text as payload, policy, attempt, losses, fence, rank, priority, run_at,
nominal_at, trigger, cancel_reason, deadline_at

-- name: run.complete_and_claim
-- purpose: moves the runs of a gateway that succeeded into history and assigns queued runs to its waiting sessions, in one commit. Of
--   each lane the first runs in rank order are read; of all these the first get a slot each. `slots` are indexes into
--   `waiting_session_ids`, of which the first `free_slots` are free: for the others a run waits at its worker
-- fence: (id, fence, session) on a running row; a claim needs its session's row (key share lock) with this gateway and no later
--   revision of limits in it, skips locked runs, and has a higher fence than any before
--+ run.archive_succeeded
, picked as materialized (
  select candidate.row_place, candidate.solo, row_number() over (order by candidate.rank, candidate.id) as number
  from (
    select queued.ctid as row_place, queued.id, queued.rank, lane_read.solo
    from unnest(:lanes::int[], :namespace_ids::int[], :from_ranks::bigint[], :max_runs::int[], :solo::boolean[])
      as lane_read (lane, namespace_id, from_rank, max_runs, solo)
    cross join lateral (
      --+ run.queued_of_lane
    ) queued
    order by queued.rank, queued.id
    limit cardinality(:slots::int[])
  ) candidate
)
--+ run.claim_picked
;

-- name: run.complete_and_claim_shared
-- purpose: as run.complete_and_claim, for sessions that serve several namespaces: the namespaces take turns in proportion to their
--   quotas, each with its first runs in rank order. `quotas` has for each lane the quota of its namespace
-- fence: as run.complete_and_claim
--+ run.archive_succeeded
, picked as materialized (
  select candidate.row_place, candidate.solo, row_number() over (order by candidate.turn, candidate.rank, candidate.id) as number
  from (
    select queued.ctid as row_place, queued.id, queued.rank, lane_read.solo, lane_read.quota,
           (row_number() over (partition by lane_read.namespace_id order by queued.rank, queued.id) - 1)::real / lane_read.quota as turn
    from unnest(:lanes::int[], :namespace_ids::int[], :from_ranks::bigint[], :max_runs::int[], :solo::boolean[], :quotas::int[])
      as lane_read (lane, namespace_id, from_rank, max_runs, solo, quota)
    cross join lateral (
      --+ run.queued_of_lane
    ) queued
  ) candidate
  where candidate.turn < 1
  order by candidate.turn, candidate.rank, candidate.id
  limit cardinality(:slots::int[])
)
--+ run.claim_picked
;

-- name: run.claim_strict
-- purpose: assigns the first queued run of a strict queue to a session, if the queue's slot is free and one of the session's lanes has
--   the run. No run overtakes the first one, whichever session can execute it. From `trial_lanes` a run is only claimed as the probe
--   of the half-open breaker that `trial_breakers` names
-- fence: slot_version on the queue's locked row, as read when the claim in the slot was seen to be over, which it then is for good; the
--   session's row as in run.complete_and_claim. A probe needs probe_by on the breaker's locked row, and probe_version in the same way
--   as slot_version: one run at a time is a probe, of any queue
with free_slot as materialized (
  select slot_version
  from carillon.queue
  where namespace_id = :namespace_id and name = :queue and order_kind = 'strict' and pause is null
    and not exists (
      select 1 from carillon.run where run.id = any (array[queue.slot_run_id]) and run.fence = queue.slot_fence and run.state = 'running'
    )
), live_session as materialized (
  select id, fence_floor from carillon.worker_session where id = :session_id and gateway_id = :gateway_id for key share
), first_run as materialized (
  select queued.id, queued.lane
  from carillon.lane
  cross join lateral (
    select run.id, run.lane, run.rank from carillon.run
    where run.lane = lane.id and run.namespace_id = :namespace_id and run.stage = 1 and run.state = 'queued'
      and run.run_at <= statement_timestamp()
    order by run.rank, run.id
    limit 1
  ) queued
  where lane.queue = :queue and lane.kind in ('strict', 'strict_once')
    and exists (select 1 from free_slot) and exists (select 1 from live_session)
  order by queued.rank, queued.id
  limit 1
), trial as materialized (
  select input.breaker
  from unnest(:trial_lanes::int[], :trial_breakers::text[]) as input (lane, breaker)
  where input.lane = (select lane from first_run)
), free_probe as materialized (
  select probe_version
  from carillon.breaker
  where namespace_id = :namespace_id and name = (select breaker from trial) and state = 'half_open' and probe_by = :gateway_id
    and not exists (
      select 1 from carillon.run
      where run.id = any (array[breaker.probe_run_id]) and run.fence = breaker.probe_fence and run.state = 'running'
    )
), locked_probe as materialized (
  select breaker.ctid as row_place
  from carillon.breaker join free_probe on free_probe.probe_version = breaker.probe_version
  where breaker.namespace_id = :namespace_id and breaker.name = (select trial.breaker from trial) and breaker.state = 'half_open'
    and breaker.probe_by = :gateway_id
  for update of breaker skip locked
), locked_slot as materialized (
  select queue.ctid as row_place
  from carillon.queue join free_slot on free_slot.slot_version = queue.slot_version
  where queue.namespace_id = :namespace_id and queue.name = :queue and (select lane from first_run) = any (:lanes::int[])
    and (not exists (select 1 from trial) or exists (select 1 from locked_probe))
  for update of queue skip locked
), picked as materialized (
  select ctid as row_place, id,
         greatest(fence, fence % 4294967296 + (select max(fence_floor) from live_session)) + 1 as next_fence
  from carillon.run
  where id = (select first_run.id from first_run) and state = 'queued' and exists (select 1 from locked_slot)
  for update of run skip locked
), taken_slot as (
  update carillon.queue
  set slot_run_id = picked.id, slot_fence = picked.next_fence, slot_version = queue.slot_version + 1
  from locked_slot, picked
  where queue.ctid = locked_slot.row_place
), taken_probe as (
  update carillon.breaker
  set probe_run_id = picked.id, probe_fence = picked.next_fence, probe_version = breaker.probe_version + 1
  from locked_probe, picked
  where breaker.ctid = locked_probe.row_place
)
update carillon.run
set state = 'running', session_id = :session_id, fence = picked.next_fence, claimed_at = clock_timestamp(),
    started_at = clock_timestamp(), state_reason = null
from picked
where run.ctid = picked.row_place
returning run.id, run.job_id, run.namespace_id, run.lane, run.session_id, run.payload::text as payload, run.policy, run.attempt,
          run.losses, run.fence, run.rank, run.priority, run.run_at, run.nominal_at, run.trigger, run.cancel_reason, run.deadline_at;

-- name: run.are_waiting
-- purpose: whether some run of these lanes waits for a worker
-- fence: none, a read
select exists (
  select 1
  from unnest(:lanes::int[]) as wanted (lane)
  cross join lateral (
    select run.id from carillon.run
    where run.lane = wanted.lane and run.namespace_id = :namespace_id and run.stage = 1 and run.state = 'queued'
      and run.run_at <= statement_timestamp()
    order by run.rank
    limit 1
  ) waiting
) as waiting;

-- name: run.held
-- purpose: the runs that sessions hold, for a gateway that does not know the outcome of a claim. Only for that case, since no index
--   serves it
-- fence: none, a read; every later write carries the fence of the claim
select
  --+ run.claimed_columns
  , started_at
from carillon.run
where state = 'running' and session_id = any (:session_ids::uuid[]);

-- name: run.read_direct
-- purpose: of these runs, those that were stored for a session (run.insert_direct) and that it has held since
-- fence: none, a read; every later write carries the fence of the claim
select
  --+ run.claimed_columns
from carillon.run
where id = any (:ids::uuid[]) and state = 'running' and session_id = :session_id and fence % 4294967296 = 1
  and claimed_at = created_at;

-- name: run.find_direct
-- purpose: the runs of these lanes that were stored for sessions and that these have held since, for a gateway that may have missed
--   notices
-- fence: none, a read
select run.id, run.session_id as "sessionId", wanted.lane, wanted.namespace_id as "namespaceId"
from unnest(:lanes::int[], :namespace_ids::int[]) as wanted (lane, namespace_id)
cross join lateral (
  select run.id, run.session_id from carillon.run
  where run.lane = wanted.lane and run.namespace_id = wanted.namespace_id and run.stage = 1 and run.state = 'running'
    and run.session_id = any (:session_ids::uuid[]) and run.fence % 4294967296 = 1 and run.claimed_at = run.created_at
  offset 0
) run;

-- name: run.held_among
-- purpose: of these runs, those that a session holds, for a gateway that does not know them
-- fence: none, a read; every later write carries the fence of the claim
select
  --+ run.claimed_columns
  , started_at
from carillon.run
where id = any (:ids::uuid[]) and state = 'running' and session_id = :session_id;

-- name: run.started
-- purpose: records the start of claimed runs: from then on their loss counts, and their timeout runs
-- fence: (id, fence, session) on a running row
update carillon.run
set started_at = greatest(run.claimed_at, clock_timestamp() - input.ago_ms * interval '1 millisecond')
from unnest(:ids::uuid[], :fences::bigint[], :ago_ms::bigint[]) as input (id, fence, ago_ms)
where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = :session_id and run.state = 'running'
  and run.started_at is null
returning run.id;

-- name: run.stop_requests
-- purpose: the claimed runs among these that were asked to stop
-- fence: none, a read; the answer names the fence of the claim to stop
select id, fence, cancel_reason as reason from carillon.run
where id = any (:ids::uuid[]) and state = 'running' and cancel_reason is not null;

-- name: secret.find
-- purpose: a secret that all nodes share
-- fence: none, a read; it never changes
select encode(value, 'base64') as value from carillon.secret where name = :name;
