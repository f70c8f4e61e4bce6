-- name: dependency.resolve
-- purpose: the jobs that ids and keys name, of those that have not ended
-- params: $1 namespace id int, $2 ids uuid[], $3 keys text[]
-- fence: none, a read; who builds on it locks the jobs and looks again
select id, key from carillon.job where (namespace_id = $1) is true and ended_at is null and id = any ($2::uuid[])
union
select id, key
from (select id, key from carillon.job where namespace_id = $1 and ended_at is null and key = any ($3::text[]) offset 0) j;

-- name: dependency.feed
-- purpose: from now on others wait for the ends of these jobs' runs: of those that are live, and of those to come; answers the
--   jobs that have not ended
-- params: $1 job ids uuid[]
-- fence: the jobs' rows of job_due are locked: whoever makes a run of them waits. A run that ends meanwhile has its row locked
with alive as materialized (
  select d.job_id, d.run_ids from carillon.job_due d where d.job_id = any ($1::uuid[]) and d.state <> 'cancelled'
), known as materialized (
  select k.id from alive a cross join lateral unnest(a.run_ids) as k (id)
  union all
  select r.id from carillon.run r where r.untracked and r.job_id = any (array(select job_id from alive))
), pick as materialized (
  select r.id from carillon.run r
  where r.id = any (array(select id from known)) and r.has_downstream is not true
  order by r.id
  for update of r
), marked as (
  update carillon.run r set has_downstream = true from pick p where r.id = any (array[p.id])
), fed as (
  update carillon.job j set has_downstream = true from alive a where j.id = any (array[a.job_id]) and j.has_downstream is not true
)
select job_id from alive;

-- name: dependency.link
-- purpose: stores what jobs wait for
-- params: $1 job ids uuid[], $2 positions smallint[], $3 namespace ids int[], $4 shards smallint[], $5 upstream ids uuid[],
--         $6 on text[], $7 conditions text[]
-- fence: primary key; the row of job_due is locked, or new
insert into carillon.dependency (job_id, position, namespace_id, shard, upstream_id, on_status, condition)
select * from unnest($1::uuid[], $2::smallint[], $3::int[], $4::smallint[], $5::uuid[], $6::text[], $7::text[]);

-- name: dependency.unlink
-- purpose: jobs wait for nothing any more; what they were not told of goes
-- params: $1 job ids uuid[]
-- fence: the row of job_due is locked
with gone as (
  delete from carillon.dependency where job_id = any ($1::uuid[])
)
delete from carillon.dependency_event where job_id = any ($1::uuid[]);

-- name: dependency.detach
-- purpose: nobody waits for a job any more; what has ended before is still told
-- params: $1 upstream job id uuid
-- fence: the row of job_due of the upstream job is locked: nobody begins to wait for it meanwhile
delete from carillon.dependency where upstream_id = $1 returning job_id;

-- name: dependency.alone
-- purpose: keeps two changes from closing a circle together
-- params: $1 namespace id int
-- fence: the row lock
select id from carillon.namespace where id = $1 for no key update;

-- name: dependency.leads_to
-- purpose: whether one of these jobs waits, directly or through others, for a job
-- params: $1 upstream job ids uuid[], $2 job id uuid
-- fence: dependency.alone, in an earlier statement
with recursive above (id) as (
  select unnest($1::uuid[])
  union
  select d.upstream_id from above a join carillon.dependency d on d.job_id = any (array[a.id])
)
select exists (select from above where id = $2) as leads;

-- name: dependency.of_job
-- purpose: what a job waits for, and who waits for it
-- params: $1 job id uuid, $2 most of each int
-- fence: none, a read
(
  select 'upstream' as side, d.upstream_id as job_id, j.key, d.on_status, d.condition, d.met_run_id, d.met_at, due.state
  from carillon.dependency d
  join carillon.job j on j.id = any (array[d.upstream_id])
  join carillon.job_due due on due.job_id = any (array[d.upstream_id])
  where d.job_id = $1
  order by d.position
  limit $2
)
union all
(
  select 'downstream', d.job_id, j.key, d.on_status, d.condition, null, null, due.state
  from (select * from carillon.dependency where upstream_id = $1 offset 0) d
  join carillon.job j on j.id = any (array[d.job_id])
  join carillon.job_due due on due.job_id = any (array[d.job_id])
  order by d.job_id, d.position
  limit $2
);

-- name: dependency.any
-- purpose: whether any job waits for another, or is to be told something that has been
-- params: none
-- fence: none, a read
select exists (select from carillon.dependency) or exists (select from carillon.dependency_event where not deferred) as is_used;

-- name: dependency.open_jobs
-- purpose: jobs that have not been told of runs that ended
-- params: $1 shards smallint[] or null for all, $2 limit int
-- fence: none, a read; who acts on it locks the jobs and looks again
select distinct o.job_id
from (
  select e.job_id
  from carillon.dependency_event e
  where not e.deferred and ($1::smallint[] is null or e.shard = any ($1))
  order by e.shard, e.number
  limit $2
) o;

-- name: dependency.events
-- purpose: what locked jobs are to be told, in the order in which the runs ended: the first of it, until their outputs and payloads
--   fill some bytes as they are stored. One without a status did not end: its row went for another reason
-- params: $1 job ids uuid[], $2 limit int, $3 bytes bigint
-- fence: none, a read; sent after the lock of the jobs
select job_id, position, run_id, status, status_reason, attempt, output, error, payload, ended_at,
       policy ->> 'traceparent' as traceparent, policy ->> 'tracestate' as tracestate
from (
  select e.job_id, e.position, e.run_id, e.number, h.status, h.status_reason, h.attempt, h.output, h.error, h.payload,
         h.policy, coalesce(h.finished_at, e.ended_at) as ended_at,
         sum(h.bytes) over (
           order by coalesce(h.finished_at, e.ended_at), e.number rows between unbounded preceding and 1 preceding
         ) as bytes_before
  from carillon.dependency_event e
  left join lateral (
    select h.status, h.status_reason, h.attempt, h.output, h.error, h.payload, h.policy, h.finished_at,
           coalesce(pg_column_size(h.output), 0) + coalesce(pg_column_size(h.payload), 0) as bytes
    from carillon.run_history h
    where h.id = e.run_id and h.finished_at >= e.ended_at - interval '1 day'
    limit 1
  ) h on true
  where e.job_id = any ($1::uuid[]) and e.deferred is not true
) as told
where coalesce(bytes_before, 0) < $3
order by ended_at, number
limit $2;

-- name: dependency.of_jobs
-- purpose: what locked jobs wait for, and what of it is met
-- params: $1 job ids uuid[]
-- fence: none, a read; sent after the lock of the jobs
select job_id, position, upstream_id, on_status, condition, met_run_id, met_at, seen_at
from carillon.dependency
where job_id = any ($1::uuid[])
order by job_id, position;

-- name: dependency.told
-- purpose: jobs were told of these ends
-- params: $1 job ids uuid[], $2 positions smallint[], $3 run ids uuid[]
-- fence: the rows of job_due are locked
delete from carillon.dependency_event e
using unnest($1::uuid[], $2::smallint[], $3::uuid[]) as i (job_id, position, run_id)
where e.job_id = any (array[i.job_id]) and e.position = i.position and e.run_id = i.run_id;

-- name: dependency.meet
-- purpose: what of the things that jobs wait for is met now
-- params: $1 job ids uuid[], $2 positions smallint[], $3 met run ids uuid[], $4 met at timestamptz[], $5 seen at timestamptz[]
-- fence: the rows of job_due are locked
update carillon.dependency d
set met_run_id = i.met_run_id, met_at = i.met_at, seen_at = i.seen_at
from unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::timestamptz[], $5::timestamptz[])
  as i (job_id, position, met_run_id, met_at, seen_at)
where d.job_id = any (array[i.job_id]) and d.position = i.position;

-- name: dependency.park
-- purpose: what paused jobs are to be told waits for their resume
-- params: $1 job ids uuid[]
-- fence: the rows of job_due are locked
update carillon.dependency_event set deferred = true where job_id = any ($1::uuid[]) and deferred is not true;

-- name: dependency.parked
-- purpose: how many ends a paused job has not been told of, and when they were
-- params: $1 job id uuid
-- fence: none, a read
select count(*) as count, min(ended_at) as from_at, max(ended_at) as to_at
from carillon.dependency_event
where job_id = $1;

-- name: dependency.release
-- purpose: tells a job that is paused no longer what it missed: all, the latest of each that it waits for, or nothing; answers how
--   many it will not be told, and when they were
-- params: $1 job id uuid, $2 choice text
-- fence: the row of job_due is locked
with ranked as materialized (
  select e.position, e.run_id, e.ended_at,
         $2 = 'all' or $2 = 'latest' and row_number() over (partition by e.position order by e.number desc) = 1 as is_told
  from carillon.dependency_event e
  where e.job_id = $1
), told as (
  update carillon.dependency_event e set deferred = false from ranked r
  where e.job_id = $1 and e.position = r.position and e.run_id = r.run_id and r.is_told
), gone as (
  delete from carillon.dependency_event e using ranked r
  where e.job_id = $1 and e.position = r.position and e.run_id = r.run_id and not r.is_told
)
select count(*) filter (where not is_told) as count, min(ended_at) filter (where not is_told) as from_at,
       max(ended_at) filter (where not is_told) as to_at, count(*) as of
from ranked;

-- name: dependency.trigger_of
-- purpose: what asked for a run that ended
-- params: $1 namespace id int, $2 run id uuid, $3 not ended before timestamptz
-- fence: none, a read
select trigger from carillon.run_history where namespace_id = $1 and id = $2 and finished_at >= $3;

-- name: dependency.upstream_runs
-- purpose: runs that ended, as those hear of them whom they started; an output of more bytes than may be handed on is left out
-- params: $1 namespace id int, $2 run ids uuid[], $3 not ended before timestamptz, $4 most bytes of an output int
-- fence: none, a read
select h.id, h.job_id, j.key, h.status, h.status_reason, h.finished_at, h.error,
       case when octet_length(h.output::text) <= $4 then h.output end as output,
       coalesce(octet_length(h.output::text) > $4, false) as is_cut
from carillon.run_history h
left join carillon.job j on j.id = any (array[h.job_id])
where h.namespace_id = $1 and h.id = any ($2::uuid[]) and h.finished_at >= $3;
