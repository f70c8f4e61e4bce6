-- Runs as they are created, wait for their time and are read by id. Claims, ends and lists have files of their own.

-- part: run.new_arrays
-- purpose: the columns of new runs, one array each
:ids::uuid[], :job_ids::uuid[], :namespace_ids::int[], :shards::smallint[], :lanes::int[], :priorities::smallint[], :ranks::bigint[],
:run_times::timestamptz[], :nominal_times::timestamptz[], :triggers::text[], :tasks::text[], :queues::text[], :payloads::text[],
:policies::text[], :labels::text[], :owners::text[], :deadlines::timestamptz[]

-- part: run.new_columns
-- purpose: the names of run.new_arrays as columns
id, job_id, namespace_id, shard, lane, priority, rank, run_at, nominal_at, trigger, task, queue, payload, policy, labels, owner,
deadline_at

-- part: run.insert_near
-- purpose: inserts those rows of `input` into the hot table that the condition behind it chooses
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, deadline_at)
select id, job_id, namespace_id, shard, lane, case when run_at <= clock_timestamp() then 'queued' else 'scheduled' end,
       priority, rank, run_at, nominal_at, clock_timestamp(), trigger, task, queue, payload::json, policy::json,
       labels::jsonb, owner, deadline_at
from input

-- part: run.insert_far
-- purpose: inserts those rows of `input` into far_future_run that the condition behind it chooses
insert into carillon.far_future_run (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels,
                                     owner, deadline_at)
select id, run_at, clock_timestamp(), rank, namespace_id, lane, shard, priority, payload::json, policy::json,
       labels::jsonb, owner, deadline_at
from input

-- name: run.insert
-- purpose: stores runs that callers requested (one-off jobs): due runs are queued at once, a one-off job beyond the horizon goes to
--   far_future_run
-- fence: primary keys
with input as materialized (
  select input.*,
         input.run_at > clock_timestamp() + :horizon_ms::bigint * interval '1 millisecond'
           and input.job_id = input.id and input.nominal_at = input.run_at and input.trigger = 'once' as is_far_future
  from unnest(
    --+ run.new_arrays
  ) as input (
    --+ run.new_columns
  )
), near as (
  --+ run.insert_near
  where is_far_future is not true
  on conflict (id) do nothing
  returning id, state, created_at
), far_future as (
  --+ run.insert_far
  where is_far_future
  on conflict (namespace_id, id) do nothing
  returning id, created_at
)
select id, state, created_at from near
union all
select id, 'far_future', created_at from far_future;

-- part: run.ids_unused
-- purpose: refuses ids that callers chose if a run has ended under one of them since; left out for ids that this node made
case when :caller_ids_since::timestamptz is not null
     then carillon.refuse_ended((select array_agg(id) from made), :caller_ids_since::timestamptz)::text end as checked,

-- name: run.insert_homogeneous
-- purpose: stores runs without a job that may start at once and differ only in their payloads, as most do: the shared values are sent
--   once. All are stored, or none; their time is the statement's. The notice to the gateways, if there is one, is sent with the commit
-- fence: primary key
with made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner)
  select new_run.id, new_run.id, :namespace_id::int, new_run.shard, :lane::int, 'queued', :priority::smallint, new_run.rank,
         statement_timestamp(), statement_timestamp(), statement_timestamp(), 'once', :task::text, :queue::text, new_run.payload,
         :policy::json, :labels::jsonb, :owner::text
  from (
    --+ run.own_values
  ) new_run
  returning id
)
select statement_timestamp() as created_at,
       --+ run.ids_unused
       case when :notice::text is not null then pg_notify(:channel::text, :notice::text)::text end as notified;

-- part: run.own_values
-- purpose: the values of new runs that differ from run to run
select unnest(:ids::uuid[]) as id, unnest(:shards::int[]) as shard, unnest(:ranks::bigint[]) as rank, unnest(:payloads::json[]) as payload

-- name: run.insert_mixed
-- purpose: as run.insert_homogeneous, for runs of several kinds: the shared values are sent once for each kind. `kinds` has the number
--   of each run's kind, from 1
-- fence: primary key
with made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner)
  select new_run.id, new_run.id, (:namespace_ids::int[])[kind], new_run.shard, (:lanes::int[])[kind], 'queued',
         (:priorities::smallint[])[kind], new_run.rank, statement_timestamp(), statement_timestamp(), statement_timestamp(), 'once',
         (:tasks::text[])[kind], (:queues::text[])[kind], new_run.payload, (:policies::text[])[kind]::json,
         (:labels::text[])[kind]::jsonb, (:owners::text[])[kind]
  from (
    --+ run.own_values
    , unnest(:kinds::int[]) as kind
  ) new_run
  returning id
)
select statement_timestamp() as created_at,
       --+ run.ids_unused
       case when :notice::text is not null then pg_notify(:channel::text, :notice::text)::text end as notified;

-- name: run.insert_direct
-- purpose: as run.insert_homogeneous, for a session that offered slots: the runs are stored as claimed by it, so that no claim follows.
--   If the session is gone, if another gateway serves it, or if limits were set since, they are stored as queued. The session's gateway
--   is notified in the first case, all gateways in the second. The claimed_at of such a claim is the created_at of the run
--   The fence is the first of its history: in another one that a failover ended, a run may have been stored under the same id
-- fence: primary key; as any claim it needs its session's row (key share lock) with this gateway and no later revision of limits in it
with taker as materialized (
  select id, fence_floor + 1 as fence from carillon.worker_session
  where id = :session_id::uuid and gateway_id = :gateway_id::uuid and limits_revision <= :limits_revision::bigint
  for key share
), made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner, fence, session_id, claimed_at)
  select new_run.id, new_run.id, :namespace_id::int, new_run.shard, :lane::int, case when taker.id is null then 'queued' else 'running' end,
         :priority::smallint, new_run.rank, statement_timestamp(), statement_timestamp(), statement_timestamp(), 'once', :task::text,
         :queue::text, new_run.payload, :policy::json, :labels::jsonb, :owner::text, coalesce(taker.fence, 0),
         taker.id, case when taker.id is not null then statement_timestamp() end
  from (
    --+ run.own_values
  ) new_run left join taker on true
  returning id
)
select statement_timestamp() as created_at,
       --+ run.ids_unused
       taker.fence,
       case
         when taker.id is not null and :gateway_channel::text is not null
           then pg_notify(:gateway_channel::text,
                          'runs ' || floor(date_part('epoch', statement_timestamp()) * 1000) || ' ' || taker.fence || ' '
                            || :gateway_notice::text)::text
         when taker.id is null and :notice::text is not null then pg_notify(:channel::text, :notice::text)::text
       end as notified
from (select 1) one left join taker on true;

-- name: run.refuse_ended
-- purpose: fails with 23505 if a run has ended under one of these ids, after an insert of theirs in the same transaction
-- fence: none, a read
select carillon.refuse_ended(:ids::uuid[], :since::timestamptz);

-- name: run.load_due
-- purpose: delayed and retrying runs of the given shards that are due before an instant, up to `limit` per shard, for the wheel
-- fence: none: the wheel's entries are hints, run.promote compares again
select due.id, due.shard, due.run_at
from unnest(:shards::smallint[]) as owned (id)
cross join lateral (
  select id, shard, run_at from carillon.run
  where shard = owned.id and stage = 2 and run_at < :until
  order by run_at
  limit :limit
) due;

-- name: run.promote
-- purpose: queues delayed and retrying runs whose time has come; runs with limits go behind their gate. Runs that need nothing but
--   a worker are queued `ahead_ms` early: every claim compares the time too, so that they start no sooner. Returns the runs of one
--   lane, rank and time in one row: in a herd nearly all share them, and a row for each would cost more
-- fence: (shard, owner, epoch) under a share lock; state and time compared on the locked row
with owned as materialized (
  --+ shard.owned
), locked as materialized (
  select run.ctid as row_place
  from carillon.run join unnest(:ids::uuid[]) as input (id) on run.id = any (array[input.id])
  where (run.shard in (select id from owned)) is true
    and run.state in ('scheduled', 'retrying')
    and (
      run.run_at <= clock_timestamp()
      or run.run_at <= clock_timestamp() + :ahead_ms * interval '1 millisecond' and run.limits is null
        and exists (select from carillon.lane where lane.id = run.lane and lane.kind in ('plain', 'solo'))
    )
  order by input.id
  for update of run skip locked
), queued as (
  update carillon.run
  set state = case when run.limits is null then 'queued' else 'blocked' end
  from locked
  where run.ctid = locked.row_place
  returning run.id, run.lane, run.rank, run.namespace_id, run.run_at
)
select string_agg(id::text, ',') as ids, lane, rank, namespace_id as "namespaceId", ceil(date_part('epoch', run_at) * 1000) as "runAt"
from queued group by lane, rank, namespace_id, run_at;

-- name: run.find
-- purpose: live runs by id, near their time or far from it, in one snapshot
-- fence: none, a read
select id, job_id, task, queue, priority,
       --+ run.shown_state
       as status, state_reason as status_reason, trigger, nominal_at, run_at,
       created_at, coalesce(started_at, claimed_at) as started_at, null::timestamptz as finished_at, attempt, losses, fence,
       session_id, payload, policy, null::json as output, null::json as error, attempts, labels, owner, deadline_at
from carillon.run
where namespace_id = :namespace_id and id = any (:ids::uuid[])
union all
select far.id, far.id, lane.task, lane.queue, far.priority, 'scheduled', null, 'once', far.run_at, far.run_at,
       far.created_at, null, null, 0, 0, 0,
       null, far.payload, far.policy, null, null, null, far.labels, far.owner, far.deadline_at
from (select distinct :namespace_id::int as namespace_id, unnest(:ids::uuid[]) as id) input
join carillon.far_future_run far on far.namespace_id = any (array[input.namespace_id]) and far.id = input.id
join carillon.lane on lane.id = far.lane;

-- name: run.find_planned
-- purpose: one-off runs that their job has yet to make under the id that its caller got, because the job was changed before their
--   time; and those that it will not make, because it was cancelled
-- fence: none, a read
select job.id, job.id as job_id, job.task, job.queue, job.priority,
       case due.state when 'cancelled' then 'cancelled' else 'scheduled' end as status,
       case due.state when 'cancelled' then 'cancelled_by_job' when 'paused' then 'paused' end as status_reason, 'schedule' as trigger,
       planned.at as nominal_at, coalesce(due.next_fire_at, planned.at) as run_at, job.created_at, null::timestamptz as started_at,
       case due.state when 'cancelled' then job.ended_at end as finished_at, 0 as attempt, 0 as losses, 0 as fence,
       null::uuid as session_id, job.payload, job.policy, null::json as output, null::json as error, null::jsonb as attempts, job.labels,
       job.owner, planned.at + job.deadline_ms * interval '1 millisecond' as deadline_at
from carillon.job_due due
join carillon.job on job.id = any (array[due.job_id])
cross join lateral (select to_timestamp((job.schedule ->> 'at')::float8 / 1000) as at) planned
where due.job_id = any (:ids::uuid[]) and due.namespace_id = :namespace_id and due.runs_made = 0
  and due.state in ('active', 'paused', 'cancelled')
  and job.schedule ->> 'kind' = 'at';

-- name: enqueue.call
-- purpose: enqueues a run in the transaction of the caller. Each parameter occurs once, in the order of its number, so that query
--   builders that number parameters by position can send it too
-- fence: those of the function. JSON and times are sent as text, because some drivers would encode them once more
select run_id, is_new
from carillon.enqueue(
  :task::text, :payload::text::json, queue => :queue::text, priority => :priority::int, run_at => :run_at::text::timestamptz,
  policy => :policy::text::jsonb,
  labels => :labels::text::jsonb, owner => :owner::text, dedupe_key => :dedupe_key::text, dedupe_on => :dedupe_on::text,
  dedupe_window => make_interval(secs => :dedupe_window_s::double precision), notify => :notify::boolean, namespace => :namespace::text
);
