-- Runs as they are made, wait for their time and are read by id. Claims, ends, losses and lists have files of their own.

-- name: run.insert
-- purpose: stores runs that were asked for directly (one-off jobs); what is due is queued at once, a one-off job beyond the
--   horizon goes to far_future_run
-- params: $1 ids uuid[], $2 job ids uuid[], $3 namespace ids int[], $4 shards smallint[], $5 lanes int[],
--         $6 priorities smallint[], $7 ranks bigint[], $8 run at timestamptz[], $9 nominals timestamptz[], $10 triggers text[],
--         $11 tasks text[], $12 queues text[], $13 payloads text[], $14 policies text[], $15 labels text[], $16 owners text[],
--         $17 horizon ms bigint, $18 deadlines timestamptz[]
-- fence: primary keys
with input as materialized (
  select i.*,
         i.run_at > clock_timestamp() + $17::bigint * interval '1 millisecond'
           and i.job_id = i.id and i.nominal_at = i.run_at and i.trigger = 'once' as is_far_future
  from unnest(
    $1::uuid[], $2::uuid[], $3::int[], $4::smallint[], $5::int[], $6::smallint[], $7::bigint[], $8::timestamptz[],
    $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $18::timestamptz[]
  ) as i (id, job_id, namespace_id, shard, lane, priority, rank, run_at, nominal_at, trigger, task, queue, payload, policy,
          labels, owner, deadline_at)
), near as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner, deadline_at)
  select id, job_id, namespace_id, shard, lane, case when run_at <= clock_timestamp() then 'queued' else 'scheduled' end,
         priority, rank, run_at, nominal_at, clock_timestamp(), trigger, task, queue, payload::json, policy::json,
         labels::jsonb, owner, deadline_at
  from input
  where is_far_future is not true
  on conflict (id) do nothing
  returning id, state, created_at
), far_future as (
  insert into carillon.far_future_run (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels,
                                  owner, deadline_at)
  select id, run_at, clock_timestamp(), rank, namespace_id, lane, shard, priority, payload::json, policy::json,
         labels::jsonb, owner, deadline_at
  from input
  where is_far_future
  on conflict (namespace_id, id) do nothing
  returning id, created_at
)
select id, state, created_at from near
union all
select id, 'far_future', created_at from far_future;

-- name: run.insert_alike
-- purpose: stores runs that stand alone and may start at once, and that are alike but for their payloads, as most are: what they share is
--   sent once. All are stored, or none; their time is the statement's
-- params: $1 ids uuid[], $2 shards int[], $3 ranks bigint[], $4 payloads json[]; of all of them: $5 namespace id int, $6 lane int,
--         $7 priority smallint, $8 task text, $9 queue text, $10 policy json or null, $11 labels jsonb or null, $12 owner text or null;
--         $13 channel text, $14 payload text or null: who listens is told at the commit, when commits do not queue up behind one another
-- fence: primary key
with made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner)
  select i.id, i.id, $5::int, i.shard, $6::int, 'queued', $7::smallint, i.rank, statement_timestamp(), statement_timestamp(),
         statement_timestamp(), 'once', $8::text, $9::text, i.payload, $10::json, $11::jsonb, $12::text
  from (
    select unnest($1::uuid[]) as id, unnest($2::int[]) as shard, unnest($3::bigint[]) as rank, unnest($4::json[]) as payload
  ) i
)
select statement_timestamp() as created_at,
       case when $14::text is not null then pg_notify($13::text, $14::text)::text end as told;

-- name: run.insert_now
-- purpose: the same for runs of several kinds: what they share is sent once for each
-- params: $1 ids uuid[], $2 shards int[], $3 ranks bigint[], $4 payloads json[], $5 kinds int[] (from 1); of each kind:
--         $6 namespace ids int[], $7 lanes int[], $8 priorities smallint[], $9 tasks text[], $10 queues text[], $11 policies text[],
--         $12 labels text[], $13 owners text[]; $14 channel text, $15 payload text or null
-- fence: primary key
with made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner)
  select i.id, i.id, ($6::int[])[i.kind], i.shard, ($7::int[])[i.kind], 'queued', ($8::smallint[])[i.kind], i.rank,
         statement_timestamp(), statement_timestamp(), statement_timestamp(), 'once', ($9::text[])[i.kind], ($10::text[])[i.kind],
         i.payload, ($11::text[])[i.kind]::json, ($12::text[])[i.kind]::jsonb, ($13::text[])[i.kind]
  from (
    select unnest($1::uuid[]) as id, unnest($2::int[]) as shard, unnest($3::bigint[]) as rank, unnest($4::json[]) as payload,
           unnest($5::int[]) as kind
  ) i
)
select statement_timestamp() as created_at,
       case when $15::text is not null then pg_notify($14::text, $15::text)::text end as told;

-- name: run.insert_handed
-- purpose: as run.insert_alike, for a worker that offered to take these runs: they are stored as claimed for it, so that no claim follows.
--   If it is gone, if another gateway serves it, or if limits were set since, they are stored as queued. Whoever is to know is told in either case.
--   Such a claim is told from others by its time, which is that of the run itself
-- params: $1 ids uuid[], $2 shards int[], $3 ranks bigint[], $4 payloads json[]; of all of them: $5 namespace id int, $6 lane int,
--         $7 priority smallint, $8 task text, $9 queue text, $10 policy json or null, $11 labels jsonb or null, $12 owner text or null;
--         $13 session uuid, $14 its gateway uuid, $15 revision of the limits that the offer goes by bigint;
--         $16 channel of the gateway or null, $17 what it is told text; $18 channel, $19 what is told if they are queued text or null
-- fence: primary key; as any claim it needs its session's row (key share lock) with this gateway and no later revision of limits in it
with taker as materialized (
  select id from carillon.worker_session
  where id = $13::uuid and gateway_id = $14::uuid and limits_revision <= $15::bigint
  for key share
), made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner, fence, session_id, claimed_at)
  select i.id, i.id, $5::int, i.shard, $6::int, case when t.id is null then 'queued' else 'running' end, $7::smallint, i.rank,
         statement_timestamp(), statement_timestamp(), statement_timestamp(), 'once', $8::text, $9::text, i.payload, $10::json,
         $11::jsonb, $12::text, case when t.id is null then 0 else 1 end, t.id, case when t.id is not null then statement_timestamp() end
  from (
    select unnest($1::uuid[]) as id, unnest($2::int[]) as shard, unnest($3::bigint[]) as rank, unnest($4::json[]) as payload
  ) i left join taker t on true
)
select statement_timestamp() as created_at, t.id is not null as handed,
       case
         when t.id is not null and $16::text is not null
           then pg_notify($16::text, 'runs ' || floor(date_part('epoch', statement_timestamp()) * 1000) || ' ' || $17::text)::text
         when t.id is null and $19::text is not null then pg_notify($18::text, $19::text)::text
       end as told
from (select 1) one left join taker t on true;

-- name: run.load_due
-- purpose: delayed and retrying runs of the given shards that are due before an instant, for the wheel
-- params: $1 shards smallint[], $2 until timestamptz, $3 limit per shard int
-- fence: none: what is loaded is only a hint, the promotion compares again
select d.id, d.shard, d.run_at
from unnest($1::smallint[]) as s (id)
cross join lateral (
  select id, shard, run_at from carillon.run
  where shard = s.id and stage = 2 and run_at < $2
  order by run_at
  limit $3
) d;

-- name: run.promote
-- purpose: queues delayed and retrying runs whose time has come; those with limits go behind their gate. What needs nothing but a worker is
--   queued a little ahead of its time: every claim compares the time as well, so that it starts no sooner. Answers those of one
--   lane, rank and time in one row: in a herd nearly all are, and a row for each would cost more than it says
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 ids uuid[], $5 how far ahead, in ms, int
-- fence: (shard, owner, epoch) under a share lock; state and time compared on the locked row
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), pick as materialized (
  select r.ctid as place
  from carillon.run r join unnest($4::uuid[]) as i (id) on r.id = any (array[i.id])
  where (r.shard in (select id from fence)) is true
    and r.state in ('scheduled', 'retrying')
    and (
      r.run_at <= clock_timestamp()
      or r.run_at <= clock_timestamp() + $5 * interval '1 millisecond' and r.limits is null
        and exists (select from carillon.lane l where l.id = r.lane and l.kind in ('plain', 'solo'))
    )
  order by i.id
  for update of r skip locked
), moved as (
  update carillon.run r
  set state = case when r.limits is null then 'queued' else 'blocked' end
  from pick p
  where r.ctid = p.place
  returning r.id, r.lane, r.rank, r.namespace_id, r.run_at
)
select string_agg(id::text, ',') as ids, lane, rank, namespace_id as "namespaceId", ceil(date_part('epoch', run_at) * 1000) as "runAt"
from moved group by lane, rank, namespace_id, run_at;

-- name: run.find
-- purpose: live runs by id, near their time or far from it, in one snapshot
-- params: $1 namespace id int, $2 ids uuid[]
-- fence: none, a read
select id, job_id, task, queue, priority,
       --+ run.shown_state
       as status, state_reason as status_reason, trigger, nominal_at, run_at,
       created_at, coalesce(started_at, claimed_at) as started_at, null::timestamptz as finished_at, attempt, losses, fence,
       session_id, payload, policy, null::json as output, null::json as error, attempts, labels, owner, deadline_at
from carillon.run
where namespace_id = $1 and id = any ($2::uuid[])
union all
select r.id, r.id, l.task, l.queue, r.priority, 'scheduled', null, 'once', r.run_at, r.run_at,
       r.created_at, null, null, 0, 0, 0,
       null, r.payload, r.policy, null, null, null, r.labels, r.owner, r.deadline_at
from (select distinct $1::int as namespace_id, unnest($2::uuid[]) as id) i
join carillon.far_future_run r on r.namespace_id = any (array[i.namespace_id]) and r.id = i.id
join carillon.lane l on l.id = r.lane;

-- name: run.to_come
-- purpose: one-off runs that their job, which was changed before their time, is still to make under the id that was told; and those that
--   it will not make, because it was cancelled
-- params: $1 namespace id int, $2 ids uuid[]
-- fence: none, a read
select j.id, j.id as job_id, j.task, j.queue, j.priority, case d.state when 'cancelled' then 'cancelled' else 'scheduled' end as status,
       case d.state when 'cancelled' then 'cancelled_by_job' when 'paused' then 'paused' end as status_reason, 'schedule' as trigger,
       a.at as nominal_at, coalesce(d.next_fire_at, a.at) as run_at, j.created_at, null::timestamptz as started_at,
       case d.state when 'cancelled' then j.ended_at end as finished_at, 0 as attempt, 0 as losses, 0 as fence,
       null::uuid as session_id, j.payload, j.policy, null::json as output, null::json as error, null::jsonb as attempts, j.labels,
       j.owner, a.at + j.deadline_ms * interval '1 millisecond' as deadline_at
from carillon.job_due d
join carillon.job j on j.id = any (array[d.job_id])
cross join lateral (select to_timestamp((j.schedule ->> 'at')::float8 / 1000) as at) a
where d.job_id = any ($2::uuid[]) and d.namespace_id = $1 and d.runs_made = 0 and d.state in ('active', 'paused', 'cancelled')
  and j.schedule ->> 'kind' = 'at';
