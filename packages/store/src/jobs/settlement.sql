-- name: settlement.be_patient
-- purpose: how long the statements of this transaction wait for a row that somebody else holds
-- params: $1 limit text, such as 2000ms
-- fence: none, a setting of the transaction
select set_config('lock_timeout', $1, true);

-- name: settlement.lock
-- purpose: takes jobs for a change; waits for whoever fires or changes them now
-- params: $1 job ids uuid[]
-- fence: the row lock; what decides is read in a later statement
select job_id from carillon.job_due where job_id = any ($1::uuid[]) order by job_id for update;

-- name: settlement.lock_due
-- purpose: takes jobs whose next occurrence the wheel holds; what is locked, changed or not due yet stays out
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 job ids uuid[], $5 versions int[],
--         $6 nominals timestamptz[], $7 runs made bigint[], $8 revision of the maintenance windows bigint or null
-- fence: (shard, owner, epoch) under a share lock; (version, next_nominal_at, fired_through, runs_made) on the locked row
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
)
select d.job_id
from carillon.job_due d
join unnest($4::uuid[], $5::int[], $6::timestamptz[], $7::bigint[]) as i (job_id, version, nominal_at, runs_made)
  on d.job_id = any (array[i.job_id])
where (d.shard in (select id from fence)) is true
  and d.state = 'active' and d.version = i.version and d.next_nominal_at = i.nominal_at and d.runs_made = i.runs_made
  and (d.fired_through is null or i.nominal_at > d.fired_through)
  and coalesce(d.next_fire_at, 'infinity') <= clock_timestamp()
  and ($8::bigint is null or exists (select from carillon.revision r where r.name = 'windows' and r.value = $8))
order by i.job_id
for update of d skip locked;

-- name: settlement.lock_expired
-- purpose: takes paused jobs whose pause is over
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 job ids uuid[], $5 versions int[]
-- fence: (shard, owner, epoch) under a share lock; state, version and time on the locked row
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
)
select d.job_id
from carillon.job_due d join unnest($4::uuid[], $5::int[]) as i (job_id, version) on d.job_id = any (array[i.job_id])
where (d.shard in (select id from fence)) is true
  and d.state = 'paused' and d.version = i.version and coalesce(d.next_fire_at, 'infinity') <= clock_timestamp()
order by i.job_id
for update of d skip locked;

-- name: settlement.read
-- purpose: locked jobs as they are now: definition, due state, and the clock that decides what is due
-- params: $1 job ids uuid[], $2 with payload boolean
-- fence: none, a read; sent after the lock, so that it sees what the one before committed
select j.id, j.namespace_id, j.shard, j.lane, j.key, j.task, j.queue, j.priority, case when $2 then j.payload end as payload,
       j.schedule, j.policy, j.firing, j.labels, j.owner, j.created_at, j.updated_at, j.defined_at, j.pause, j.ended_at, d.class, d.state, d.version,
       d.next_nominal_at, d.next_fire_at, d.fired_through, d.fired_count, d.max_runs, d.overlap, d.runs_made, d.run_ids,
       d.ledger_from, d.ledger_reason, d.catch_up_to, d.state_reason,
       (select value from carillon.revision where name = 'windows') as windows, clock_timestamp() as now
from carillon.job_due d join carillon.job j on j.id = any (array[d.job_id])
where d.job_id = any ($1::uuid[])
order by d.job_id;

-- name: settlement.live
-- purpose: the live runs of locked jobs, oldest first. One that waits for a limit waits for nobody of its job: it counts as queued
-- params: $1 job ids uuid[]
-- fence: none, a read; sent after the lock, whoever makes a run of these jobs waits for it
with known as materialized (
  select d.job_id, k.id
  from carillon.job_due d cross join lateral unnest(d.run_ids) as k (id)
  where d.job_id = any ($1::uuid[])
  union
  select r.job_id, r.id from carillon.run r where r.untracked and r.job_id = any ($1::uuid[])
)
select k.job_id, r.id, case when r.state = 'blocked' and r.limits is not null then 'queued' else r.state end as state
from known k join carillon.run r on r.id = any (array[k.id])
order by r.nominal_at, r.id;

-- name: settlement.hold_live
-- purpose: as settlement.live, for those that are about to be ended: none is claimed or ended by others meanwhile
-- params: $1 job ids uuid[]
-- fence: the row locks, taken in the order of ids
with known as materialized (
  select d.job_id, k.id
  from carillon.job_due d cross join lateral unnest(d.run_ids) as k (id)
  where d.job_id = any ($1::uuid[])
  union
  select r.job_id, r.id from carillon.run r where r.untracked and r.job_id = any ($1::uuid[])
)
select k.job_id, r.id, case when r.state = 'blocked' and r.limits is not null then 'queued' else r.state end as state
from known k join carillon.run r on r.id = any (array[k.id])
order by k.id
for update of r;

-- name: settlement.hold_untracked
-- purpose: some of the runs that wait, of a job that keeps no list of its runs and has more than one transaction should end; none
--   if there are fewer: then settlement.hold_live takes all, and nothing is held before it that would break its order
-- params: $1 job id uuid, $2 limit int
-- fence: the row locks, taken in the order of ids; state on the locked row
with part as materialized (
  select r.id from carillon.run r where r.untracked and r.job_id = $1 and r.state <> 'running' limit $2
)
select r.id from carillon.run r
where r.id = any (array(select id from part)) and r.state <> 'running' and (select count(*) from part) = $2
order by r.id
for update of r;

-- name: settlement.insert_runs
-- purpose: makes runs of locked jobs; what a row leaves out (null) is taken from the job
-- params: $1 ids uuid[], $2 job ids uuid[], $3 states text[], $4 ranks bigint[], $5 run at timestamptz[],
--         $6 nominals timestamptz[], $7 triggers text[], $8 serial boolean[], $9 untracked boolean[], $10 lanes int[],
--         $11 queues text[], $12 priorities smallint[], $13 payloads text[], $14 policies text[], $15 labels text[],
--         $16 deadlines timestamptz[]
-- fence: primary key; the job's row is locked
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, state_reason, version, serial, untracked,
                          deadline_at, has_downstream)
select i.id, j.id, j.namespace_id, j.shard, coalesce(i.lane, j.lane), i.state, coalesce(i.priority, j.priority), i.rank,
       i.run_at, i.nominal_at, clock_timestamp(), i.trigger, j.task, coalesce(i.queue, j.queue),
       coalesce(i.payload::json, j.payload), coalesce(i.policy::json, j.policy),
       coalesce(i.labels::jsonb, nullif(j.labels, '{}')), j.owner, case i.state when 'blocked' then 'overlap' end, j.version,
       i.serial, i.untracked, i.deadline_at, j.has_downstream
from unnest(
  $1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::boolean[],
  $9::boolean[], $10::int[], $11::text[], $12::smallint[], $13::text[], $14::text[], $15::text[], $16::timestamptz[]
) as i (id, job_id, state, rank, run_at, nominal_at, trigger, serial, untracked, lane, queue, priority, payload, policy,
        labels, deadline_at)
join carillon.job j on j.id = any (array[i.job_id])
on conflict (id) do nothing
returning id, job_id, state, lane, rank, run_at, created_at;

-- name: settlement.end_runs
-- purpose: ends runs that wait: they are cancelled without having run, or without another try. One that failed then has the time of
--   a try that will not be: it was due by its last start
-- params: $1 ids uuid[], $2 reasons text[]
-- fence: the row's lock; one that runs stays
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::text[]) as i (id, reason)
  where r.id = any (array[i.id]) and r.state <> 'running'
  returning r.*, i.reason
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', reason, priority, least(run_at, started_at), nominal_at, created_at, trigger, task,
         queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null, null, attempts,
         version
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue from ended;

-- name: settlement.stop_runs
-- purpose: asks the workers of running runs to stop; the first reason stays
-- params: $1 ids uuid[], $2 reasons text[]
-- fence: the row's lock; only one that runs
update carillon.run r
set cancel_reason = coalesce(r.cancel_reason, i.reason)
from unnest($1::uuid[], $2::text[]) as i (id, reason)
where r.id = any (array[i.id]) and r.state = 'running'
returning r.id, r.session_id;

-- name: settlement.untrack_runs
-- purpose: runs of a job that keeps no list of them any more: those that waited for others of it may start
-- params: $1 ids uuid[]
-- fence: the row's lock; the job's row is locked
with pick as materialized (
  select r.id, r.state = 'blocked' and r.state_reason = 'overlap' as waited
  from carillon.run r
  where r.id = any ($1::uuid[])
  order by r.id
  for update of r
)
update carillon.run r
set untracked = true, state = case when p.waited then 'queued' else r.state end,
    state_reason = case when p.waited then null else r.state_reason end
from pick p
where r.id = any (array[p.id])
returning r.id, r.lane, r.rank, p.waited;

-- name: settlement.move
-- purpose: writes the due state of locked jobs
-- params: $1 job ids uuid[], $2 expected versions int[], $3 versions int[], $4 states text[], $5 classes smallint[],
--         $6 next nominals timestamptz[], $7 next fires timestamptz[], $8 fired through timestamptz[], $9 fired counts int[],
--         $10 max runs int[], $11 overlaps text[], $12 runs made bigint[], $13 run ids text[] (each the text of a uuid[]),
--         $14 ledger from timestamptz[], $15 ledger reasons text[], $16 catch up to timestamptz[], $17 state reasons text[]
-- fence: version on the locked row
update carillon.job_due d
set version = i.version, state = i.state, class = i.class, next_nominal_at = i.next_nominal_at, next_fire_at = i.next_fire_at,
    fired_through = i.fired_through, fired_count = i.fired_count, max_runs = i.max_runs, overlap = i.overlap,
    runs_made = i.runs_made, run_ids = i.run_ids::uuid[], ledger_from = i.ledger_from, ledger_reason = i.ledger_reason,
    catch_up_to = i.catch_up_to, state_reason = i.state_reason
from unnest(
  $1::uuid[], $2::int[], $3::int[], $4::text[], $5::smallint[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[],
  $9::int[], $10::int[], $11::text[], $12::bigint[], $13::text[], $14::timestamptz[], $15::text[], $16::timestamptz[],
  $17::text[]
) as i (job_id, expected, version, state, class, next_nominal_at, next_fire_at, fired_through, fired_count, max_runs, overlap,
        runs_made, run_ids, ledger_from, ledger_reason, catch_up_to, state_reason)
where d.job_id = any (array[i.job_id]) and d.version = i.expected
returning d.job_id;

-- name: settlement.note
-- purpose: adds to the ledger; a range that is there already grows
-- params: $1 job ids uuid[], $2 namespace ids int[], $3 versions int[], $4 reasons text[], $5 from timestamptz[],
--         $6 to timestamptz[], $7 counts bigint[], $8 details text[]
-- fence: primary key; the job's row is locked
insert into carillon.occurrence as o (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
select i.job_id, i.namespace_id, i.version, i.reason, i.from_at, i.to_at, i.count, i.detail, clock_timestamp()
from unnest(
  $1::uuid[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::bigint[], $8::text[]
) as i (job_id, namespace_id, version, reason, from_at, to_at, count, detail)
on conflict (job_id, version, reason, from_at) do update
set to_at = greatest(o.to_at, excluded.to_at), count = o.count + excluded.count, recorded_at = excluded.recorded_at,
    detail = case when o.detail = excluded.detail then o.detail end;

-- name: settlement.ahead
-- purpose: the entries of the ledger that reach past an instant of their job: instants to come that calendars removed
-- params: $1 job ids uuid[], $2 after timestamptz[]
-- fence: the row locks: retention skips these entries; the job's row is locked
select o.job_id, o.version, o.reason, o.from_at
from unnest($1::uuid[], $2::timestamptz[]) as i (job_id, after)
cross join lateral (
  select * from carillon.occurrence where job_id = i.job_id and reason = 'calendar' and to_at > i.after order by from_at for update
) o;

-- name: settlement.cut
-- purpose: shortens entries of the ledger; removes those with a count of 0
-- params: $1 job ids uuid[], $2 versions int[], $3 reasons text[], $4 from timestamptz[], $5 to timestamptz[], $6 counts bigint[]
-- fence: primary key; the job's row is locked
with input as materialized (
  select i.* from unnest($1::uuid[], $2::int[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[])
    as i (job_id, version, reason, from_at, to_at, count)
), gone as (
  delete from carillon.occurrence o using input i
  where o.job_id = any (array[i.job_id]) and o.from_at = i.from_at and o.version = i.version and o.reason = i.reason and i.count = 0
  returning o.job_id
), shortened as (
  update carillon.occurrence o set to_at = i.to_at, count = i.count
  from input i
  where o.job_id = any (array[i.job_id]) and o.from_at = i.from_at and o.version = i.version and o.reason = i.reason and i.count > 0
  returning o.job_id
)
select job_id from gone union all select job_id from shortened;

-- name: settlement.lock_free
-- purpose: takes jobs whose next waiting run may start; what somebody holds stays out
-- params: $1 job ids uuid[]
-- fence: the row lock; what decides is read in a later statement
select job_id from carillon.job_due where job_id = any ($1::uuid[]) order by job_id for update skip locked;

-- name: settlement.admit_runs
-- purpose: queues runs that waited for others of their job
-- params: $1 ids uuid[]
-- fence: state on the locked row, locked in the order of ids; the job's row is locked
with pick as materialized (
  select r.id from carillon.run r
  where r.id = any ($1::uuid[]) and r.stage = 3 and r.state_reason = 'overlap'
  order by r.id
  for update of r
)
update carillon.run r
set state = 'queued', state_reason = null
from pick p
where r.id = any (array[p.id])
returning r.id, r.lane, r.rank;

-- name: settlement.admissible
-- purpose: jobs with runs that wait for others of their job, of which none is left
-- params: $1 shards smallint[], $2 limit int
-- fence: none: what is seen is only a hint, the admission looks again under the job's lock
select w.job_id
from (
  select distinct r.job_id
  from carillon.run r
  where r.shard = any ($1::smallint[]) and r.stage = 3 and r.serial and r.state_reason = 'overlap'
) w
join carillon.job_due d on d.job_id = any (array[w.job_id])
where not exists (
  select from unnest(d.run_ids) as k (id) join carillon.run l on l.id = any (array[k.id]) where l.state <> 'blocked' or l.limits is not null
)
limit $2;
