-- name: backfill.insert
-- purpose: a caller starts a backfill; the owner of the shard makes its runs
-- fence: primary key; the transaction has the row of job_due locked, and the job has not ended
insert into carillon.backfill (id, job_id, namespace_id, shard, state, from_at, to_at, next_step_at, per_second, concurrency,
                               repeats, force, total, actor, trace, created_at)
select :id, job_id, namespace_id, shard, 'running', :from_at, :to_at, clock_timestamp(), :per_second, :concurrency, :repeats, :force,
       :total, :actor, :trace::json, clock_timestamp()
from carillon.job_due where job_id = :job_id
returning *;

-- name: backfill.find
-- purpose: reads a backfill by id
-- fence: none, a read
select * from carillon.backfill where namespace_id = :namespace_id and id = :id;

-- name: backfill.list
-- purpose: reads a keyset page of the backfills of a job, the newest first
-- fence: none, a read
select * from carillon.backfill
where job_id = :job_id and (:before_id::uuid is null or id < :before_id)
order by id desc
limit :limit;

-- name: backfill.abort
-- purpose: a caller ends a running backfill; waits for a step in progress
-- fence: state on the row
update carillon.backfill
set state = 'aborted', state_reason = :reason, finished_at = clock_timestamp(), run_ids = '{}'
where namespace_id = :namespace_id and id = :id and state = 'running'
returning *;

-- name: backfill.abort_all_of_job
-- purpose: ends all backfills of a job that is cancelled
-- fence: state on the row; the transaction has the row of job_due locked, so no other backfill of the job starts
update carillon.backfill
set state = 'aborted', state_reason = :reason, finished_at = clock_timestamp(), run_ids = '{}'
where job_id = :job_id and state = 'running';

-- name: backfill.list_due
-- purpose: the owner of some shards reads the backfills whose next step is due and that may have another live run, the one that waits
--   longest first. If runs of the job must not overlap, a backfill has one live run at a time
-- fence: none: the result is a hint, the step reads again under the job's lock
select backfill.id, backfill.job_id, backfill.shard
from carillon.backfill join carillon.job_due as due on due.job_id = any (array[backfill.job_id])
where backfill.shard = any (:shards::smallint[]) and backfill.state = 'running' and backfill.next_step_at <= :now
  and (select count(*) from carillon.run where run.id = any (backfill.run_ids))
    < case when backfill.force or due.overlap in ('allow', 'queue_all') then backfill.concurrency else 1 end
order by backfill.next_step_at, backfill.id
limit :limit;

-- name: backfill.any_running
-- purpose: whether a backfill of some shards has steps left
-- fence: none, a read
select exists (select from carillon.backfill where shard = any (:shards::smallint[]) and state = 'running') as any;

-- name: backfill.lock_job
-- purpose: the owner of a shard locks the job of a backfill for one step; a row that another transaction holds is skipped
-- fence: (shard, owner, epoch) under a share lock; the deciding values are read in a later statement
with owned_shards as materialized (
  --+ shard.owned
)
select due.job_id
from carillon.job_due as due
where due.job_id = :job_id and due.shard in (select id from owned_shards)
for update of due skip locked;

-- name: backfill.lock_running
-- purpose: locks and reads a backfill that has steps left
-- fence: the row lock; sent after the lock of the job
select * from carillon.backfill where id = :id and state = 'running' for update;

-- name: backfill.list_live_runs
-- purpose: reads which runs have not ended
-- fence: none, a read; sent after the locks
select id from carillon.run where id = any (:ids::uuid[]);

-- name: backfill.definition_at
-- purpose: reads the definition that was in force right after an instant, if it has been replaced since. The first definition applies to
--   all earlier instants too. Times are compared in whole milliseconds, as instants have them
-- fence: none, a read
select version, definition, valid_to
from carillon.job_version
where job_id = :job_id and date_trunc('milliseconds', valid_to) > :after
order by version
limit 1;

-- name: backfill.calendars_at
-- purpose: reads calendars as they were right after an instant, each with the end of that version if it has one
-- fence: none, a read
select calendar.id, calendar.name, coalesce(past.version, calendar.version) as version,
       coalesce(past.definition, calendar.definition) as definition, past.valid_to
from carillon.calendar
left join lateral (
  select version, definition, valid_to
  from carillon.calendar_version
  where calendar_id = calendar.id and date_trunc('milliseconds', valid_to) > :after
  order by version
  limit 1
) as past on true
where calendar.namespace_id = :namespace_id and calendar.name = any (:names::text[]);

-- name: backfill.ran
-- purpose: reads which instants of a job have a live or finished run, by its schedule or by a backfill. The id of such a run begins with
--   its instant; the only run of a one-off job has the job's id
-- fence: none, a read; sent after the lock of the job, for which a transaction that makes a run of it waits
with known_runs as materialized (
  select listed.id from carillon.job_due as due cross join lateral unnest(due.run_ids) as listed (id) where due.job_id = :job_id
  union all
  select run.id from carillon.run where run.untracked and run.job_id = :job_id
  union all
  select unnest(:scheduled_run_ids::uuid[])
)
select run.nominal_at
from known_runs join carillon.run on run.id = any (array[known_runs.id])
where run.job_id = :job_id and run.nominal_at = any (:instants::timestamptz[])
  and (run.trigger in ('schedule', 'once') or run.trigger like 'backfill:%')
union
select nominal_at
from carillon.run_history
where job_id = :job_id and job_id <> id and id >= :lowest_id and id < :above_highest_id and finished_at >= :not_before
  and nominal_at = any (:instants::timestamptz[]) and (trigger = 'schedule' or trigger like 'backfill:%')
union
select nominal_at
from carillon.run_history
where id = :job_id and job_id = :job_id and finished_at >= :not_before and nominal_at = any (:instants::timestamptz[]);

-- name: backfill.insert_runs
-- purpose: inserts runs of a locked job from a definition that is no longer in force
-- fence: primary key; the transaction has the job's row locked
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, state_reason, version, serial, untracked,
                          deadline_at, has_downstream)
select new_run.id, due.job_id, due.namespace_id, due.shard, :lane, new_run.state, :priority, new_run.rank, new_run.run_at,
       new_run.nominal_at, clock_timestamp(), new_run.trigger, :task, :queue, :payload::json, :policy::json, :labels::jsonb, :owner,
       case new_run.state when 'blocked' then 'overlap' end, :version, new_run.serial, new_run.untracked, new_run.deadline_at,
       job.has_downstream
from unnest(
  :ids::uuid[], :states::text[], :ranks::bigint[], :run_at::timestamptz[], :nominals::timestamptz[], :triggers::text[],
  :serial::boolean[], :untracked::boolean[], :deadlines::timestamptz[]
) as new_run (id, state, rank, run_at, nominal_at, trigger, serial, untracked, deadline_at)
cross join carillon.job_due as due
join carillon.job on job.id = due.job_id
where due.job_id = :job_id
on conflict (id) do nothing
returning id, job_id, state, lane, rank, run_at, created_at;

-- name: backfill.add_occurrences
-- purpose: adds the instants that a backfill left out to the ledger. A second backfill that leaves out the same does not count them twice
-- fence: primary key; the transaction has the job's row locked
--+ occurrence.insert
on conflict (job_id, version, reason, from_at) do update
set to_at = greatest(occurrence.to_at, excluded.to_at), count = greatest(occurrence.count, excluded.count),
    recorded_at = excluded.recorded_at;

-- name: backfill.step
-- purpose: writes the progress of a backfill, in the transaction that inserts the runs
-- fence: state and through_at on the locked row
update carillon.backfill
set through_at = :through, made = made + :made, passed = passed + :passed, skipped = skipped + :skipped, run_ids = :run_ids::uuid[],
    next_step_at = :next_step_at, state = :state, state_reason = :reason,
    finished_at = case when :state <> 'running' then clock_timestamp() end
where id = :id and state = 'running' and through_at is not distinct from :expected_through
returning id;
