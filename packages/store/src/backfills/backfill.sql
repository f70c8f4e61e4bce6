-- name: backfill.insert
-- purpose: stores a backfill; the shard's owner makes its runs
-- params: $1 id uuid, $2 job id uuid, $3 from timestamptz, $4 to timestamptz, $5 runs per second real, $6 concurrency int,
--         $7 repeats boolean, $8 force boolean, $9 total bigint, $10 actor text or null,
--         $11 trace text or null
-- fence: primary key; the row of job_due is locked and the job has not ended
insert into carillon.backfill (id, job_id, namespace_id, shard, state, from_at, to_at, next_step_at, per_second, concurrency,
                               repeats, force, total, actor, trace, created_at)
select $1, d.job_id, d.namespace_id, d.shard, 'running', $3, $4, clock_timestamp(), $5, $6, $7, $8, $9, $10, $11::json,
       clock_timestamp()
from carillon.job_due d where d.job_id = $2
returning *;

-- name: backfill.find
-- purpose: a backfill by id
-- params: $1 namespace id int, $2 id uuid
-- fence: none, a read
select * from carillon.backfill where namespace_id = $1 and id = $2;

-- name: backfill.list
-- purpose: a keyset page of a job's backfills, newest first
-- params: $1 job id uuid, $2 before id uuid or null, $3 limit int
-- fence: none, a read
select * from carillon.backfill
where job_id = $1 and ($2::uuid is null or id < $2)
order by id desc
limit $3;

-- name: backfill.abort
-- purpose: ends a backfill that still makes runs; waits for a step that is under way
-- params: $1 namespace id int, $2 id uuid, $3 reason text
-- fence: state on the row
update carillon.backfill
set state = 'aborted', state_reason = $3, finished_at = clock_timestamp(), run_ids = '{}'
where namespace_id = $1 and id = $2 and state = 'running'
returning *;

-- name: backfill.abort_of_job
-- purpose: ends all backfills of a job that is cancelled
-- params: $1 job id uuid, $2 reason text
-- fence: state on the row; the row of job_due is locked, so that no other is started meanwhile
update carillon.backfill
set state = 'aborted', state_reason = $2, finished_at = clock_timestamp(), run_ids = '{}'
where job_id = $1 and state = 'running';

-- name: backfill.due
-- purpose: backfills of some shards whose next step has come and that may have another run; the one that waits longest first.
--          Where runs of the job may not overlap, a backfill has one at a time: it is not in its own way.
-- params: $1 shards smallint[], $2 now timestamptz, $3 limit int
-- fence: none: what is seen is only a hint, the step looks again under the job's lock
select b.id, b.job_id, b.shard
from carillon.backfill b join carillon.job_due d on d.job_id = any (array[b.job_id])
where b.shard = any ($1::smallint[]) and b.state = 'running' and b.next_step_at <= $2
  and (select count(*) from carillon.run r where r.id = any (b.run_ids))
    < case when b.force or d.overlap in ('allow', 'queue_all') then b.concurrency else 1 end
order by b.next_step_at, b.id
limit $3;

-- name: backfill.running
-- purpose: whether any backfill of some shards has steps left
-- params: $1 shards smallint[]
-- fence: none, a read
select exists (select from carillon.backfill where shard = any ($1::smallint[]) and state = 'running') as any;

-- name: backfill.lock_job
-- purpose: takes the job of a backfill for one step; one that somebody else holds stays out
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 job id uuid
-- fence: (shard, owner, epoch) under a share lock; what decides is read in a later statement
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
)
select d.job_id
from carillon.job_due d
where d.job_id = $4 and d.shard in (select id from fence)
for update of d skip locked;

-- name: backfill.hold
-- purpose: a backfill that has steps left, as it is now
-- params: $1 id uuid
-- fence: the row's lock; sent after the job's lock
select * from carillon.backfill where id = $1 and state = 'running' for update;

-- name: backfill.live
-- purpose: which runs have not ended
-- params: $1 ids uuid[]
-- fence: none, a read; sent after the locks
select id from carillon.run where id = any ($1::uuid[]);

-- name: backfill.definition_at
-- purpose: the definition that was in force right after an instant, if it has been replaced since; instants before the first
--          definition count as the first one's. Whole milliseconds, as instants are.
-- params: $1 job id uuid, $2 after timestamptz
-- fence: none, a read
select version, definition, valid_to
from carillon.job_version
where job_id = $1 and date_trunc('milliseconds', valid_to) > $2
order by version
limit 1;

-- name: backfill.calendars_at
-- purpose: calendars as they were right after an instant, each with the end of that version if it has one
-- params: $1 namespace id int, $2 names text[], $3 after timestamptz
-- fence: none, a read
select c.id, c.name, coalesce(v.version, c.version) as version, coalesce(v.definition, c.definition) as definition, v.valid_to
from carillon.calendar c
left join lateral (
  select version, definition, valid_to
  from carillon.calendar_version
  where calendar_id = c.id and date_trunc('milliseconds', valid_to) > $3
  order by version
  limit 1
) v on true
where c.namespace_id = $1 and c.name = any ($2::text[]);

-- name: backfill.ran
-- purpose: which instants of a job have a run, by its schedule or by a backfill, live or finished. Ids of such runs begin with
--          their instant; a one-off job's only run has the job's id.
-- params: $1 job id uuid, $2 instants timestamptz[], $3 ids of their scheduled runs uuid[], $4 lowest id uuid, $5 above the
--         highest id uuid, $6 not ended before timestamptz
-- fence: none, a read; sent after the job's lock, whoever makes a run of the job waits for it
with known as materialized (
  select k.id from carillon.job_due d cross join lateral unnest(d.run_ids) as k (id) where d.job_id = $1
  union all
  select r.id from carillon.run r where r.untracked and r.job_id = $1
  union all
  select unnest($3::uuid[])
)
select r.nominal_at
from known k join carillon.run r on r.id = any (array[k.id])
where r.job_id = $1 and r.nominal_at = any ($2::timestamptz[])
  and (r.trigger in ('schedule', 'once') or r.trigger like 'backfill:%')
union
select h.nominal_at
from carillon.run_history h
where h.job_id = $1 and h.job_id <> h.id and h.id >= $4 and h.id < $5 and h.finished_at >= $6
  and h.nominal_at = any ($2::timestamptz[]) and (h.trigger = 'schedule' or h.trigger like 'backfill:%')
union
select h.nominal_at
from carillon.run_history h
where h.id = $1 and h.job_id = $1 and h.finished_at >= $6 and h.nominal_at = any ($2::timestamptz[]);

-- name: backfill.insert_runs
-- purpose: makes runs of a locked job from a definition that is not in force any more
-- params: $1 ids uuid[], $2 states text[], $3 ranks bigint[], $4 run at timestamptz[], $5 nominals timestamptz[],
--         $6 triggers text[], $7 serial boolean[], $8 untracked boolean[], $9 job id uuid, $10 version int, $11 lane int,
--         $12 task text, $13 queue text, $14 priority smallint, $15 payload text, $16 policy text, $17 labels text, $18 owner text,
--         $19 deadlines timestamptz[]
-- fence: primary key; the job's row is locked
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, state_reason, version, serial, untracked,
                          deadline_at, has_downstream)
select i.id, d.job_id, d.namespace_id, d.shard, $11, i.state, $14, i.rank, i.run_at, i.nominal_at, clock_timestamp(),
       i.trigger, $12, $13, $15::json, $16::json, $17::jsonb, $18, case i.state when 'blocked' then 'overlap' end, $10,
       i.serial, i.untracked, i.deadline_at, j.has_downstream
from unnest(
  $1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::boolean[], $8::boolean[],
  $19::timestamptz[]
) as i (id, state, rank, run_at, nominal_at, trigger, serial, untracked, deadline_at)
cross join carillon.job_due d
join carillon.job j on j.id = d.job_id
where d.job_id = $9
on conflict (id) do nothing
returning id, job_id, state, lane, rank, run_at, created_at;

-- name: backfill.note
-- purpose: adds to the ledger what a backfill left out. A second one that leaves out the same does not count it twice.
-- params: $1 job ids uuid[], $2 namespace ids int[], $3 versions int[], $4 reasons text[], $5 from timestamptz[],
--         $6 to timestamptz[], $7 counts bigint[], $8 details text[]
-- fence: primary key; the job's row is locked
insert into carillon.occurrence as o (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
select i.job_id, i.namespace_id, i.version, i.reason, i.from_at, i.to_at, i.count, i.detail, clock_timestamp()
from unnest(
  $1::uuid[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::bigint[], $8::text[]
) as i (job_id, namespace_id, version, reason, from_at, to_at, count, detail)
on conflict (job_id, version, reason, from_at) do update
set to_at = greatest(o.to_at, excluded.to_at), count = greatest(o.count, excluded.count), recorded_at = excluded.recorded_at;

-- name: backfill.step
-- purpose: moves a backfill on, in the transaction that makes the runs
-- params: $1 id uuid, $2 expected through timestamptz or null, $3 through timestamptz or null, $4 made bigint, $5 passed bigint,
--         $6 skipped bigint, $7 run ids uuid[], $8 next step timestamptz, $9 state text, $10 state reason text or null
-- fence: state and through on the locked row
update carillon.backfill
set through_at = $3, made = made + $4, passed = passed + $5, skipped = skipped + $6, run_ids = $7::uuid[], next_step_at = $8,
    state = $9, state_reason = $10, finished_at = case when $9 <> 'running' then clock_timestamp() end
where id = $1 and state = 'running' and through_at is not distinct from $2
returning id;
