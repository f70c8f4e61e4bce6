-- name: change.touch
-- purpose: the part of a change that every kind of it has: the new version, the pause, the end
-- params: $1 ids uuid[], $2 expected versions int[], $3 versions int[], $4 pauses text[], $5 ended at timestamptz[]
-- fence: version; the row of job_due is locked
update carillon.job j
set version = i.version, pause = i.pause::json, ended_at = i.ended_at, updated_at = clock_timestamp()
from unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::timestamptz[]) as i (id, expected, version, pause, ended_at)
where j.id = any (array[i.id]) and j.version = i.expected
returning j.id;

-- name: change.keep_version
-- purpose: keeps the definition that is about to be replaced
-- params: $1 job id uuid, $2 version int, $3 definition text, $4 valid from timestamptz, $5 valid to timestamptz,
--         $6 who replaces it text or null
-- fence: primary key; the row of job_due is locked
insert into carillon.job_version (job_id, namespace_id, version, definition, valid_from, valid_to, replaced_by)
select j.id, j.namespace_id, $2, $3::json, $4, $5, $6 from carillon.job j where j.id = $1;

-- name: change.redefine
-- purpose: replaces a job's definition
-- params: $1 id uuid, $2 version int (the new one), $3 lane int, $4 task, $5 queue text, $6 priority smallint, $7 payload,
--         $8 schedule, $9 policy, $10 firing text, $11 labels text, $12 owner text, $13 defined at timestamptz
-- fence: version; the row of job_due is locked
update carillon.job
set lane = $3, task = $4, queue = $5, priority = $6, payload = $7::json, schedule = $8::json, policy = $9::json,
    firing = $10::json, labels = $11::jsonb, owner = $12, defined_at = $13
where id = $1 and version = $2
returning id;

-- name: change.definition_of
-- purpose: the definition that was in force as of a version: kept under the last version that it had
-- params: $1 job id uuid, $2 version int
-- fence: none, a read
select version, definition from carillon.job_version where job_id = $1 and version >= $2 order by version limit 1;

-- name: change.versions
-- purpose: a keyset page of the definitions that were replaced, newest first
-- params: $1 job id uuid, $2 before version int or null, $3 limit int
-- fence: none, a read
select version, definition, valid_from, valid_to, replaced_by
from carillon.job_version
where job_id = $1 and ($2::int is null or version < $2)
order by version desc
limit $3;

-- name: change.occurrences
-- purpose: a keyset page of a job's ledger, newest first
-- params: $1 job id uuid, $2 before from_at timestamptz or null, $3 before version int, $4 before reason text, $5 limit int
-- fence: none, a read
select version, reason, from_at, to_at, count, detail
from carillon.occurrence
where job_id = $1
  and (from_at, version, reason) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::int, 0), coalesce($4::text, ''))
order by from_at desc, version desc, reason desc
limit $5;

-- name: change.hold_run
-- purpose: takes the run that a one-off job is, wherever it stands
-- params: $1 namespace id int, $2 id uuid
-- fence: the row's lock
select id,
       --+ run.shown_state
       as state
from carillon.run where namespace_id = $1 and id = $2 and job_id = id for update;

-- name: change.adopt_live
-- purpose: makes a stored job of the run that a one-off job is; one that is still to come goes, its job fires it, however late:
--          no policy for what is missed was ever asked for it
-- params: $1 id uuid, $2 class smallint
-- fence: the run's row is locked; primary key of job
with held as materialized (
  select id,
         --+ run.shown_state
         = 'scheduled' as is_to_come
  from carillon.run where id = $1
), job as (
  insert into carillon.job (id, namespace_id, shard, lane, task, queue, priority, payload, schedule, policy, labels, owner,
                            created_at, updated_at)
  select id, namespace_id, shard, lane, task, queue, priority, payload,
         json_build_object('kind', 'at', 'at', (extract(epoch from nominal_at) * 1000)::bigint), policy,
         coalesce(labels, '{}'), owner, created_at, created_at
  from carillon.run where id = $1
  on conflict do nothing
  returning id
), gone as (
  delete from carillon.run r using job join held h on h.id = job.id and h.is_to_come where r.id = any (array[job.id]) returning r.id
)
insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at, fired_through,
                              fired_count, runs_made, run_ids, catch_up_to, defined_at)
select r.id, r.namespace_id, r.shard, $2, case when h.is_to_come then 'active' else 'completed' end, 1,
       case when h.is_to_come then r.nominal_at end, case when h.is_to_come then r.run_at end,
       case when h.is_to_come then null else r.nominal_at end, case when h.is_to_come then 0 else 1 end,
       case when h.is_to_come then 0 else 1 end, case when h.is_to_come then '{}' else array[r.id] end,
       case when h.is_to_come and r.run_at <= clock_timestamp() then r.nominal_at end, r.created_at
from carillon.run r join job on r.id = any (array[job.id]) join held h on r.id = any (array[h.id])
returning job_id;

-- name: change.adopt_ended
-- purpose: makes a stored job of a one-off job that has ended; one that was cancelled stays as it is
-- params: $1 id uuid, $2 not ended before timestamptz, $3 class smallint, $4 lane int, $5 shard smallint
-- fence: primary key of job
with job as (
  insert into carillon.job (id, namespace_id, shard, lane, task, queue, priority, payload, schedule, policy, labels, owner,
                            created_at, updated_at)
  select id, namespace_id, $5, $4, task, queue, priority, payload,
         json_build_object('kind', 'at', 'at', (extract(epoch from nominal_at) * 1000)::bigint), policy,
         coalesce(labels, '{}'), owner, created_at, finished_at
  from carillon.run_history where id = $1 and job_id = id and finished_at >= $2 and status <> 'cancelled'
  on conflict do nothing
  returning id, namespace_id, shard
)
insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, fired_through, fired_count, runs_made,
                              run_ids, defined_at)
select j.id, j.namespace_id, j.shard, $3, 'completed', 1, h.nominal_at, 1, 1, array[j.id], h.created_at
from job j join carillon.run_history h on h.id = j.id and h.finished_at >= $2
returning job_id;

-- name: change.recall
-- purpose: brings the run that a one-off job is into the hot table, if it waits far from its time
-- params: $1 namespace id int, $2 id uuid
-- fence: the locked row: of a move and a recall one finds it gone
with gone as (
  delete from carillon.far_future_run where namespace_id = $1 and id = $2 returning *
)
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, deadline_at)
select g.id, g.id, g.namespace_id, g.shard, g.lane, 'scheduled', g.priority, g.rank, g.run_at, g.run_at, g.created_at, 'once',
       l.task, l.queue, g.payload, g.policy, g.labels, g.owner, g.deadline_at
from gone g join carillon.lane l on l.id = g.lane;
