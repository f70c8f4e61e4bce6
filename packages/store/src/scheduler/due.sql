-- Scheduled occurrences of jobs. The scheduler of the node that owns a shard sends these statements for what its wheel holds; each
-- compares that with the stored rows, and skips a row that is locked or has changed. Every write has the part shard.owned as its fence.

-- part: due.late_and_unchanged
-- purpose: the row of a requested occurrence, locked, if it is still as the wheel holds it and the database's clock is not behind the
--   decision: a node whose clock is ahead takes occurrences for missed that are due now
from carillon.job_due as due
where due.job_id = requested.job_id and (due.shard in (select id from owned_shards)) is true
  and due.state = 'active' and due.version = requested.version and due.next_nominal_at = requested.nominal_at
  and (due.fired_through is null or requested.nominal_at > due.fired_through)
  and coalesce(due.next_fire_at, 'infinity') <= clock_timestamp()
  and (:decided_at::timestamptz is null or :decided_at <= clock_timestamp() + interval '1 second')
  and (select value from carillon.revision where name = 'windows') = :windows_revision
for update of due skip locked

-- part: due.notes
-- purpose: further entries of the ledger that belong to the written occurrences
select note.*, clock_timestamp()
from unnest(
  :note_job_ids::uuid[], :note_namespace_ids::int[], :note_versions::int[], :note_reasons::text[], :note_from::timestamptz[],
  :note_to::timestamptz[], :note_counts::bigint[], :note_details::text[]
) as note (job_id, namespace_id, version, reason, from_at, to_at, count, detail)
where (note.job_id in (select job_id from locked)) is true

-- name: due.load
-- purpose: reads the jobs of some shards that are due before an instant into the wheel, soonest first within a class. Jobs that differ
--   only in id and shard are one row, with the definition of the first: in a herd most of them do, and a row and a definition for each
--   cost more than its fire
-- fence: none: the result is a hint, the fire compares again
select herd.*, job.namespace_id, job.schedule::text, job.firing::text, job.priority, job.task, job.queue, job.labels::text,
       job.deadline_ms
from (
  select string_agg(due.job_id::text || due.shard, ',') as jobs, due.class, due.state, due.version, due.next_nominal_at,
         due.next_fire_at, due.runs_made, due.catch_up_to, greatest(due.fired_through, due.defined_at) as settled_to
  from unnest(:shards::smallint[]) as requested_shard (id)
  cross join generate_series(0, 2) as urgency (class)
  cross join lateral (
    select job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at, runs_made, catch_up_to, fired_through,
           defined_at, definition
    from carillon.job_due
    where shard = requested_shard.id and class = urgency.class and next_fire_at is not null and next_fire_at < :until
    order by next_fire_at
    limit :limit_per_shard
  ) as due
  group by 2, 3, 4, 5, 6, 7, 8, 9, due.namespace_id, due.definition, case when due.definition is null then due.job_id end
) as herd
join carillon.job on job.id = any (array[left(herd.jobs, 36)::uuid])
order by herd.class, herd.next_fire_at;

-- name: due.fire
-- purpose: turns due occurrences into runs and moves each job to its next time, for jobs whose overlap policy is allow or skip. A job with
--   a live run whose policy is skip gets an entry in the ledger instead. Values that jobs share are sent once, for the jobs from :firsts
--   to :lasts, and jobs with the same outcome and lane are returned in one row: a row for each would cost more than it says. Without
--   :checks_duplicates a stored run of the same id is an error, and the statement does nothing
-- fence: (shard, owner, epoch) under a share lock; (version, next_nominal_at, fired_through) compared on the locked row, and runs_made
--   where a live run decides: runs are read as of the statement's start, and a later run has changed that row. A transaction that makes
--   a run with such an id locks the row too, so a conflict of ids is an error here
with owned_shards as materialized (
  --+ shard.owned
), requested as materialized (
  select unnest((:job_ids::uuid[])[herd.first : herd.last]) as job_id,
         unnest((:run_ids::uuid[])[herd.first : herd.last]) as run_id, herd.*
  from unnest(
    :firsts::int[], :lasts::int[], :versions::int[], :nominals::timestamptz[], :runs_made::bigint[],
    :next_nominals::timestamptz[], :next_fires::timestamptz[], :catch_up_to::timestamptz[], :ranks::bigint[]
  ) as herd (first, last, version, nominal_at, runs_made, next_nominal_at, next_fire_at, catch_up_to, rank)
  order by 1
), locked as materialized (
  select requested.*, stored.*
  from requested cross join lateral (
    select due.namespace_id, due.overlap, due.run_ids, due.ledger_from, due.ledger_reason, due.next_fire_at as fire_at,
           due.max_runs is not null and due.fired_count + 1 >= due.max_runs as is_last
    from carillon.job_due as due
    where due.job_id = requested.job_id and (due.shard in (select id from owned_shards)) is true
      and due.state = 'active' and due.version = requested.version and due.next_nominal_at = requested.nominal_at
      and (due.fired_through is null or requested.nominal_at > due.fired_through)
      and coalesce(due.next_fire_at, 'infinity') <= clock_timestamp()
      and (due.overlap = 'allow' or due.overlap = 'skip' and due.runs_made = requested.runs_made)
      and (select value from carillon.revision where name = 'windows') = :windows_revision
    for update of due skip locked
  ) as stored
), decided as materialized (
  select locked.*, job.shard, job.lane, job.priority, job.task, job.queue, job.payload, job.policy,
         nullif(job.labels, '{}') as labels, job.owner, job.deadline_ms, job.has_downstream, clock_timestamp() as made_at,
         case when not :checks_duplicates and (locked.overlap = 'allow' or locked.run_ids = '{}') then 'fired' else coalesce((
           select case run.id when locked.run_id then 'duplicate' else 'overlap' end
           from carillon.run
           where run.id = any (case when not :checks_duplicates then locked.run_ids
                                    when locked.overlap = 'skip' then locked.run_ids || locked.run_id
                                    else array[locked.run_id] end)
           limit 1
         ), 'fired') end as outcome
  from locked join carillon.job on job.id = any (array[locked.job_id])
), new_runs as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner, version, untracked, deadline_at, has_downstream)
  select run_id, job_id, namespace_id, shard, lane, 'queued', priority, rank, fire_at, nominal_at, made_at, 'schedule', task, queue,
         payload, policy, labels, owner, version, overlap = 'allow', nominal_at + deadline_ms * interval '1 millisecond', has_downstream
  from decided
  where outcome = 'fired'
), next_times as (
  update carillon.job_due as due
  set fired_through = decided.nominal_at,
      fired_count = due.fired_count + (decided.outcome = 'fired')::int,
      runs_made = due.runs_made + (decided.outcome = 'fired')::int,
      run_ids = case decided.outcome when 'overlap' then due.run_ids else array[decided.run_id] end,
      next_nominal_at = case when decided.outcome <> 'fired' or not decided.is_last then decided.next_nominal_at end,
      next_fire_at = case when decided.outcome <> 'fired' or not decided.is_last then decided.next_fire_at end,
      state = case when decided.outcome = 'fired' and decided.is_last or decided.next_nominal_at is null then 'completed'
                   else due.state end,
      state_reason = null,
      ledger_reason = nullif(decided.outcome, 'fired'),
      ledger_from = case decided.outcome when 'fired' then null when decided.ledger_reason then decided.ledger_from
                                         else decided.nominal_at end,
      catch_up_to = coalesce(decided.catch_up_to, due.catch_up_to)
  from decided
  where due.job_id = any (array[decided.job_id])
), ledger as (
  insert into carillon.occurrence (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
  select job_id, namespace_id, version, outcome, case outcome when ledger_reason then ledger_from else nominal_at end, nominal_at,
         1, null, made_at
  from decided
  where outcome <> 'fired'
  union all
  --+ due.notes
  on conflict (job_id, version, reason, from_at) do update
  set to_at = greatest(occurrence.to_at, excluded.to_at), count = occurrence.count + excluded.count,
      recorded_at = excluded.recorded_at
)
select string_agg(job_id::text, ',') as job_ids, outcome, outcome = 'fired' and is_last as is_last, lane, max(made_at) as created_at
from decided
group by outcome, outcome = 'fired' and is_last, lane;

-- name: due.pass
-- purpose: moves jobs past occurrences that are not fired, and records these in the ledger; a range with the same reason grows
-- fence: (shard, owner, epoch) under a share lock; (version, next_nominal_at, fired_through) and the clock on the locked row
with owned_shards as materialized (
  --+ shard.owned
), requested as materialized (
  select * from unnest(
    :job_ids::uuid[], :versions::int[], :nominals::timestamptz[], :next_nominals::timestamptz[], :next_fires::timestamptz[],
    :catch_up_to::timestamptz[], :through::timestamptz[], :counts::bigint[], :reasons::text[], :details::text[]
  ) as passed (job_id, version, nominal_at, next_nominal_at, next_fire_at, catch_up_to, through_at, count, reason, detail)
  order by job_id
), locked as materialized (
  select requested.*, stored.*
  from requested cross join lateral (
    select due.namespace_id,
           case when due.ledger_reason = requested.reason then due.ledger_from else requested.nominal_at end as from_at
    --+ due.late_and_unchanged
  ) as stored
), next_times as (
  update carillon.job_due as due
  set fired_through = locked.through_at,
      next_nominal_at = locked.next_nominal_at,
      next_fire_at = locked.next_fire_at,
      state = case when locked.next_nominal_at is null then 'completed' else due.state end,
      state_reason = null,
      ledger_reason = locked.reason,
      ledger_from = locked.from_at,
      catch_up_to = coalesce(locked.catch_up_to, due.catch_up_to)
  from locked
  where due.job_id = any (array[locked.job_id])
), ledger as (
  insert into carillon.occurrence (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
  select job_id, namespace_id, version, reason, from_at, through_at, count, detail, clock_timestamp() from locked
  union all
  --+ due.notes
  on conflict (job_id, version, reason, from_at) do update
  set to_at = greatest(occurrence.to_at, excluded.to_at), count = occurrence.count + excluded.count,
      recorded_at = excluded.recorded_at, detail = case when occurrence.detail = excluded.detail then occurrence.detail end
)
select job_id from locked;

-- name: due.hold
-- purpose: delays due occurrences to the end of a maintenance window
-- fence: as due.pass
with owned_shards as materialized (
  --+ shard.owned
), requested as materialized (
  select *
  from unnest(:job_ids::uuid[], :versions::int[], :nominals::timestamptz[], :until::timestamptz[])
    as held (job_id, version, nominal_at, until_at)
  order by job_id
), locked as materialized (
  select stored.job_id, requested.until_at
  from requested cross join lateral (
    select due.job_id
    --+ due.late_and_unchanged
  ) as stored
)
update carillon.job_due as due
set next_fire_at = locked.until_at, state_reason = 'held ' || :windows_revision
from locked
where due.job_id = any (array[locked.job_id])
returning due.job_id;

-- name: due.release
-- purpose: makes occurrences due again that are held because of another revision of the maintenance windows; the next fire decides again
-- fence: (shard, owner, epoch) under a share lock; the statement fires nothing
with owned_shards as materialized (
  --+ shard.owned
), locked as materialized (
  select due.job_id
  from owned_shards join carillon.job_due as due on due.shard = owned_shards.id
  where due.state_reason like 'held %' and due.state_reason <> 'held ' || :windows_revision and due.state = 'active'
  order by due.shard, due.job_id
  for update of due skip locked
)
update carillon.job_due as due
set next_fire_at = greatest(due.next_nominal_at, least(due.next_fire_at, clock_timestamp())), state_reason = null
from locked
where due.job_id = any (array[locked.job_id])
returning due.shard;

-- name: due.quarantine
-- purpose: pauses jobs that cannot be fired, with the error as the reason, so that the other jobs of the shard fire
-- fence: (shard, owner, epoch) under a share lock; (state, version) compared on the locked row
with owned_shards as materialized (
  --+ shard.owned
), locked as materialized (
  select due.job_id, poison.pause
  from carillon.job_due as due
  join unnest(:job_ids::uuid[], :versions::int[], :pauses::text[]) as poison (job_id, version, pause)
    on due.job_id = any (array[poison.job_id])
  where due.shard = any (array(select id from owned_shards)) and due.state = 'active' and due.version = poison.version
  order by poison.job_id
  for update of due skip locked
), paused as (
  update carillon.job_due as due
  set state = 'paused', version = due.version + 1, next_nominal_at = null, next_fire_at = null, state_reason = null,
      ledger_from = null, ledger_reason = null
  from locked
  where due.job_id = any (array[locked.job_id])
)
update carillon.job
set version = job.version + 1, pause = locked.pause::json, updated_at = clock_timestamp()
from locked
where job.id = any (array[locked.job_id])
returning job.id as job_id;
