-- name: run.insert
-- purpose: stores runs that were asked for directly (one-off jobs); what is due is queued at once, a one-off job beyond the
--   horizon goes to run_later
-- params: $1 ids uuid[], $2 job ids uuid[], $3 namespace ids int[], $4 shards smallint[], $5 lanes int[],
--         $6 priorities smallint[], $7 ranks bigint[], $8 run at timestamptz[], $9 nominals timestamptz[], $10 triggers text[],
--         $11 tasks text[], $12 queues text[], $13 payloads text[], $14 policies text[], $15 labels text[], $16 owners text[],
--         $17 horizon ms bigint, $18 deadlines timestamptz[]
-- fence: primary keys
with input as materialized (
  select i.*,
         i.run_at > clock_timestamp() + $17::bigint * interval '1 millisecond'
           and i.job_id = i.id and i.nominal_at = i.run_at and i.trigger = 'once' as is_later
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
  where is_later is not true
  on conflict (id) do nothing
  returning id, state, created_at
), later as (
  insert into carillon.run_later (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels,
                                  owner, deadline_at)
  select id, run_at, clock_timestamp(), rank, namespace_id, lane, shard, priority, payload::json, policy::json,
         labels::jsonb, owner, deadline_at
  from input
  where is_later
  on conflict (namespace_id, id) do nothing
  returning id, created_at
)
select id, state, created_at from near
union all
select id, 'later', created_at from later;

-- name: run.insert_now
-- purpose: stores runs that stand alone and may start at once. Most are alike, so what they share is sent once for each kind
-- params: $1 ids uuid[], $2 shards smallint[], $3 ranks bigint[], $4 kinds int[] (from 1), $5 payloads text: JSON texts with U+001F
--         between them, which JSON escapes; of each kind: $6 namespace ids int[], $7 lanes int[], $8 priorities smallint[],
--         $9 tasks text[], $10 queues text[], $11 policies text[], $12 labels text[], $13 owners text[]; $14 channel text,
--         $15 payload text or null: who listens is told at the commit, when commits do not queue up behind one another
-- fence: primary key
with present as materialized (
  select clock_timestamp() as at
), made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner)
  select i.id, i.id, ($6::int[])[i.kind], i.shard, ($7::int[])[i.kind], 'queued', ($8::smallint[])[i.kind], i.rank, p.at, p.at,
         p.at, 'once', ($9::text[])[i.kind], ($10::text[])[i.kind], i.payload::json, ($11::text[])[i.kind]::json,
         ($12::text[])[i.kind]::jsonb, ($13::text[])[i.kind]
  from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::int[], string_to_array($5::text, E'\x1f'))
         as i (id, shard, rank, kind, payload)
  cross join present p
  returning 1
)
select (select at from present) as created_at, count(*)::int as count,
       case when $15::text is not null then pg_notify($14::text, $15::text)::text end as told
from made;

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
-- purpose: queues delayed and retrying runs whose time has come; those with limits go behind their gate
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 ids uuid[]
-- fence: (shard, owner, epoch) under a share lock; state and time compared on the locked row
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), pick as materialized (
  select r.id
  from carillon.run r join unnest($4::uuid[]) as i (id) on i.id = r.id
  where r.shard = any (array(select id from fence))
    and r.state in ('scheduled', 'retrying') and r.run_at <= clock_timestamp()
  order by r.id
  for update of r skip locked
)
update carillon.run r set state = case when r.limits is null then 'queued' else 'blocked' end from pick p where r.id = p.id
returning r.id, r.lane, r.rank, r.namespace_id as "namespaceId";

-- name: run.exchange
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
  where r.id = i.id and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.id, r.job_id, r.namespace_id, r.priority, r.run_at, r.nominal_at, r.created_at, r.trigger, r.task, r.queue, r.payload,
            r.policy, r.labels, r.owner, r.attempt, r.losses, r.fence, r.session_id, r.claimed_at, r.attempts, r.version, r.serial,
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

-- name: run.exchange_shared
-- purpose: as run.exchange, for sessions that serve several namespaces: of each the first few, in rank order, and of all these those
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
  where r.id = i.id and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.id, r.job_id, r.namespace_id, r.priority, r.run_at, r.nominal_at, r.created_at, r.trigger, r.task, r.queue, r.payload,
            r.policy, r.labels, r.owner, r.attempt, r.losses, r.fence, r.session_id, r.claimed_at, r.attempts, r.version, r.serial,
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
-- params: $1 namespace id int, $2 queue text, $3 lanes that the session serves int[], $4 session uuid, $5 gateway uuid
-- fence: slot_version on the locked row of the queue, as it was when the claim that has the slot was seen to be over, which it
--   then is for ever; the session's row as in run.exchange
with seen as materialized (
  select q.slot_version
  from carillon.queue q
  where q.namespace_id = $1 and q.name = $2 and q.order_kind = 'strict' and q.pause is null
    and not exists (
      select 1 from carillon.run r where r.id = q.slot_run_id and r.fence = q.slot_fence and r.state = 'running'
    )
), alive as materialized (
  select id from carillon.worker_session where id = $4 and gateway_id = $5 for key share
), head as materialized (
  select f.id, f.lane
  from carillon.lane l
  cross join lateral (
    select r.id, r.lane, r.rank from carillon.run r
    where r.lane = l.id and r.namespace_id = $1 and r.stage = 1 and r.state = 'queued'
    order by r.rank, r.id
    limit 1
  ) f
  where l.queue = $2 and l.kind in ('strict', 'strict_once') and exists (select 1 from seen) and exists (select 1 from alive)
  order by f.rank, f.id
  limit 1
), slot as materialized (
  select q.ctid as place
  from carillon.queue q join seen s on s.slot_version = q.slot_version
  where q.namespace_id = $1 and q.name = $2 and (select h.lane from head h) = any ($3::int[])
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
    where r.lane = l.lane and r.namespace_id = $1 and r.stage = 1 and r.state = 'queued'
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

-- name: run.recall
-- purpose: runs that a session holds and that this node does not know of
-- params: $1 session uuid, $2 ids uuid[]
-- fence: none, a read; whatever is done about a run carries the fence of its claim
select id, job_id, namespace_id, lane, session_id, payload::text as payload, policy, attempt, losses, fence, rank, priority, run_at,
       nominal_at, trigger, cancel_reason, deadline_at, started_at
from carillon.run
where id = any ($2::uuid[]) and state = 'running' and session_id = $1;

-- name: run.accepted
-- purpose: which results were accepted before, although whoever sent them never heard of it
-- params: $1 session uuid, $2 ids uuid[], $3 fences bigint[], $4 not ended before timestamptz
-- fence: none, a read; the fence names the claim, and while that lasts the run is running
select i.id
from unnest($2::uuid[], $3::bigint[]) as i (id, fence)
where exists (
    select from carillon.run_history h
    where h.id = i.id and h.finished_at >= $4 and h.fence = i.fence
      and h.session_id in ($1, '00000000-0000-0000-0000-000000000000')
  )
  or exists (
    select from carillon.run r
    where r.id = i.id and r.fence = i.fence and (r.state <> 'running' or r.session_id = '00000000-0000-0000-0000-000000000000')
  );

-- name: run.stops
-- purpose: which of the runs that sessions hold are to stop
-- params: $1 ids uuid[]
-- fence: none, a read; the order names the fence of the claim that it is for
select id, fence, cancel_reason as reason from carillon.run
where id = any ($1::uuid[]) and state = 'running' and cancel_reason is not null;

-- name: run.finish
-- purpose: moves finished runs from the hot table into history; answers the jobs whose runs may wait for one of them
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 statuses text[], $5 reasons text[], $6 outputs text[],
--         $7 errors text[], $8 started at timestamptz[], $9 attempts spent smallint[], $10 fingerprints text[]
-- fence: (id, fence, session) on a running row
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
               $9::smallint[], $10::text[])
    as i (session_id, id, fence, status, reason, output, error, started_at, spent, fingerprint)
  where r.id = i.id and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.*, i.status, i.reason, i.output, i.error, i.started_at as begun_at, i.spent, i.fingerprint
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, status, case status when 'cancelled' then coalesce(cancel_reason, reason) else reason end,
         priority, run_at, nominal_at, created_at, trigger, task, queue, payload, policy, labels, owner,
         attempt + spent, losses, fence, session_id, greatest(begun_at, claimed_at), clock_timestamp(), output::json,
         error::json, attempts, version, fingerprint
  from ended
)
select id, case when serial then job_id end as freed_job_id from ended;

-- name: run.finish_noticed
-- purpose: as run.finish, for runs whose success somebody is to be told of
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 statuses text[], $5 reasons text[], $6 outputs text[],
--         $7 errors text[], $8 started at timestamptz[], $9 attempts spent smallint[], $10 fingerprints text[]
-- fence: (id, fence, session) on a running row
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
               $9::smallint[], $10::text[])
    as i (session_id, id, fence, status, reason, output, error, started_at, spent, fingerprint)
  where r.id = i.id and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.*, i.status, i.reason, i.output, i.error, i.started_at as begun_at, i.spent, i.fingerprint
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, status, case status when 'cancelled' then coalesce(cancel_reason, reason) else reason end,
         priority, run_at, nominal_at, created_at, trigger, task, queue, payload, policy, labels, owner,
         attempt + spent, losses, fence, session_id, greatest(begun_at, claimed_at), clock_timestamp(), output::json,
         error::json, attempts, version, fingerprint
  from ended
), noticed as (
  insert into carillon.run_notice (run_id, namespace_id, ended_at)
  select id, namespace_id, clock_timestamp() from ended
  on conflict do nothing
)
select id, case when serial then job_id end as freed_job_id from ended;

-- name: run.retry
-- purpose: sends failed runs back to wait for their next try
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 delays ms bigint[], $5 ranks bigint[],
--         $6 attempt records text[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set state = 'retrying',
    session_id = null,
    attempt = r.attempt + 1,
    run_at = clock_timestamp() + i.delay_ms * interval '1 millisecond',
    rank = i.rank,
    state_reason = null,
    attempts = coalesce(r.attempts, '[]'::jsonb) || i.record::jsonb
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
  as i (session_id, id, fence, delay_ms, rank, record)
where r.id = i.id and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
returning r.id, r.shard, r.run_at, r.cancel_reason is not null as stopped;

-- name: run.give_back
-- purpose: returns claimed runs to the queue without spending anything (drain, or never started); those with limits go behind their
--   gate, since another start is charged again
-- params: $1 session uuid, $2 ids uuid[], $3 fences bigint[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set state = case when r.limits is null then 'queued' else 'blocked' end, session_id = null
from unnest($2::uuid[], $3::bigint[]) as i (id, fence)
where r.id = i.id and r.fence = i.fence and r.session_id = $1 and r.state = 'running'
returning r.id, r.lane, r.rank, r.namespace_id as "namespaceId", r.cancel_reason is not null as stopped;

-- name: run.defer
-- purpose: returns claimed runs to wait for a time without spending anything
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 delays ms bigint[], $5 ranks bigint[], $6 reasons text[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set state = 'scheduled',
    session_id = null,
    started_at = null,
    run_at = clock_timestamp() + i.delay_ms * interval '1 millisecond',
    rank = i.rank,
    state_reason = i.reason
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
  as i (session_id, id, fence, delay_ms, rank, reason)
where r.id = i.id and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
returning r.id, r.shard, r.run_at, r.cancel_reason is not null as stopped;

-- name: run.started
-- purpose: notes that claimed runs were begun: only their loss counts, and their time runs
-- params: $1 session uuid, $2 ids uuid[], $3 fences bigint[], $4 how long ago, in ms, bigint[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set started_at = greatest(r.claimed_at, clock_timestamp() - i.ago_ms * interval '1 millisecond')
from unnest($2::uuid[], $3::bigint[], $4::bigint[]) as i (id, fence, ago_ms)
where r.id = i.id and r.fence = i.fence and r.session_id = $1 and r.state = 'running' and r.started_at is null
returning r.id;

-- name: run.lost
-- purpose: running runs whose session no longer exists; who waits for a callback has none to lose. It looks at all live runs,
--   since no index knows who runs: not for every day
-- params: $1 limit int
-- fence: none, a read; who acts on it compares again
select r.id
from carillon.run r
where r.state = 'running' and r.session_id <> '00000000-0000-0000-0000-000000000000'
  and not exists (select 1 from carillon.worker_session s where s.id = r.session_id)
limit $1;

-- name: run.rescue
-- purpose: of these runs, queues again those whose session no longer exists. The loss of one that was begun is counted. From now
--   on they are handed out with the start on record, and one at a time once another loss is the last: one that takes its workers
--   down shows, and those that it took along lose little. Those with limits go behind their gate
-- params: $1 ids uuid[], $2 most losses int
-- fence: the session's row is gone; a claim needs that row
with lost as materialized (
  select r.id, r.losses + case when r.started_at is null then 0 else 1 end as losses
  from carillon.run r
  where r.id = any ($1::uuid[]) and r.state = 'running' and r.session_id <> '00000000-0000-0000-0000-000000000000'
    and (r.started_at is null or r.losses < $2 and (r.policy ->> 'guarantee' = 'at_most_once') is not true)
    and not exists (select 1 from carillon.worker_session s where s.id = r.session_id)
  for update of r skip locked
)
update carillon.run r
set state = case when r.limits is null then 'queued' else 'blocked' end,
    session_id = null,
    losses = lost.losses,
    state_reason = case when r.started_at is null then 'not_started' else 'worker_lost' end,
    lane = twin.id
from lost, carillon.lane l, carillon.lane twin
where r.id = lost.id and l.id = r.lane
  and twin.queue = l.queue and twin.task = l.task and twin.requires = l.requires
  and twin.kind = case
    when l.kind in ('strict', 'strict_once', 'admitted') then l.kind
    when lost.losses >= $2 - 1 then 'lost'
    else 'solo'
  end
returning r.id, r.lane, r.rank, r.namespace_id as "namespaceId", r.cancel_reason is not null as stopped;

-- name: run.bury_lost
-- purpose: of these runs, ends those that took their workers down too often, and at-most-once runs that were begun, if their
--   session no longer exists; answers which
-- params: $1 ids uuid[], $2 most losses int, $3 error text, $4 its fingerprint text
-- fence: the session's row is gone; a claim needs that row
with lost as materialized (
  select r.id
  from carillon.run r
  where r.id = any ($1::uuid[]) and r.state = 'running' and r.started_at is not null
    and r.session_id <> '00000000-0000-0000-0000-000000000000'
    and (r.losses >= $2 or r.policy ->> 'guarantee' = 'at_most_once')
    and not exists (select 1 from carillon.worker_session s where s.id = r.session_id)
  for update of r skip locked
), ended as (
  delete from carillon.run r using lost where r.id = lost.id returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, 'failed', 'worker_lost', priority, run_at, nominal_at, created_at, trigger, task, queue,
         payload, policy, labels, owner, attempt, losses + 1, fence, session_id, started_at, clock_timestamp(), null, $3::json,
         attempts, version, $4
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: run.end_stopped
-- purpose: ends runs that were to stop and came back from their worker before they did; answers which. One that
--   failed then has the time of a try that will not be: it was due by its last start
-- params: $1 ids uuid[]
-- fence: the row's lock; one that runs stays
with ended as (
  delete from carillon.run r where r.id = any ($1::uuid[]) and r.state <> 'running' and r.cancel_reason is not null returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', cancel_reason, priority, least(run_at, claimed_at), nominal_at, created_at,
         trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, claimed_at, clock_timestamp(), null, null,
         attempts, version
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: run.expire
-- purpose: ends runs that wait and whose deadline has passed; answers as run.finish does. One that failed before has the time of
--   a try that will not be: it was due by its last start
-- params: $1 limit int, $2 error text, $3 its fingerprint text
-- fence: the row's lock; one that runs stays, and what somebody holds is left for the next pass
with late as materialized (
  select r.id
  from carillon.run r
  where r.deadline_at <= clock_timestamp() and r.state <> 'running'
  order by r.deadline_at
  limit $1
  for update of r skip locked
), ended as (
  delete from carillon.run r using late where r.id = late.id returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, 'failed', 'expired', priority, least(run_at, claimed_at), nominal_at, created_at, trigger,
         task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, claimed_at, clock_timestamp(), null,
         $2::json, attempts, version, $3
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: run.find
-- purpose: live runs by id, near their time or far from it, in one snapshot
-- params: $1 namespace id int, $2 ids uuid[]
-- fence: none, a read
select id, job_id, task, queue, priority, state as status, state_reason as status_reason, trigger, nominal_at, run_at,
       created_at, coalesce(started_at, claimed_at) as started_at, null::timestamptz as finished_at, attempt, losses, fence,
       session_id, payload, policy, null::json as output, null::json as error, attempts, labels, owner, deadline_at
from carillon.run
where namespace_id = $1 and id = any ($2::uuid[])
union all
select r.id, r.id, l.task, l.queue, r.priority, 'scheduled', null, 'once', r.run_at, r.run_at,
       r.created_at, null, null, 0, 0, 0,
       null, r.payload, r.policy, null, null, null, r.labels, r.owner, r.deadline_at
from carillon.run_later r join carillon.lane l on l.id = r.lane
where r.namespace_id = $1 and r.id = any ($2::uuid[]);

-- name: run.list
-- purpose: a keyset page of live runs among the first so many in the list's order; of those far from their time, a page is read
--   from where it begins. A line with a tag counts where its tag is chosen
-- params: $1 namespace id int, $2 after id uuid or null, $3 limit int, $4 statuses text[] or null, $5 task, $6 queue text or
--         null, $7 job id uuid or null, $8 session uuid or null, $9 owner text or null, $10 one-off jobs only boolean,
--         $11 created from, $12 created before timestamptz or null, $13 kind of trigger text or null, $14 labels jsonb or null,
--         $15 other conditions on labels jsonb or null, $16 how many to look through int
-- fence: none, a read
(
  select id, job_id, task, queue, priority, state as status, state_reason as status_reason, trigger, nominal_at, run_at,
         created_at, coalesce(started_at, claimed_at) as started_at, null::timestamptz as finished_at, attempt, losses, fence,
         session_id, payload, policy, null::json as output, null::json as error, attempts, labels, owner, deadline_at
  from (
    select * from carillon.run
    where namespace_id = $1
      and ($2::uuid is null or id < $2) --? newest_first
      and ($2::uuid is null or id > $2) --? oldest_first
    order by id desc --? newest_first
    order by id --? oldest_first
    limit $16
  ) r
  where ($4::text[] is null or state = any ($4)) and ($5::text is null or task = $5) and ($6::text is null or queue = $6)
    and ($7::uuid is null or job_id = $7) and ($8::uuid is null or session_id = $8) and ($9::text is null or owner = $9)
    and (not $10::boolean or job_id = id)
    and ($12::timestamptz is null or created_at < $12) and ($11::timestamptz is null or created_at >= $11)
    and ($13::text is null or split_part(trigger, ':', 1) = $13)
    and ($14::jsonb is null or labels @> $14::jsonb)
    and ($15::jsonb is null or not exists (
      select from jsonb_to_recordset($15::jsonb) as c (key text, is_in boolean, among jsonb)
      where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                            else coalesce(c.among ? (labels ->> c.key), false) end
    ))
  order by id desc --? newest_first
  order by id --? oldest_first
  limit $3
)
union all
(
  select r.id, r.id, l.task, l.queue, r.priority, 'scheduled', null, 'once', r.run_at, r.run_at,
         r.created_at, null, null, 0, 0, 0,
         null, r.payload, r.policy, null, null, null, r.labels, r.owner, r.deadline_at
  from (
    select * from carillon.run_later
    where namespace_id = $1
      and id < coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
      and id > coalesce($2, '00000000-0000-0000-0000-000000000000') --? oldest_first
      and id between coalesce($7, '00000000-0000-0000-0000-000000000000')
                 and coalesce($7, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by id desc --? newest_first
    order by id --? oldest_first
    limit $16
  ) r join carillon.lane l on l.id = r.lane
  where ($4 is null or 'scheduled' = any ($4)) and ($5 is null or l.task = $5) and ($6 is null or l.queue = $6)
    and $8 is null and ($9 is null or r.owner = $9)
    and ($12 is null or r.created_at < $12) and ($11 is null or r.created_at >= $11) and coalesce($13, 'once') = 'once'
    and ($14::jsonb is null or r.labels @> $14::jsonb)
    and ($15::jsonb is null or not exists (
      select from jsonb_to_recordset($15::jsonb) as c (key text, is_in boolean, among jsonb)
      where c.is_in <> case when c.among is null then coalesce(r.labels ? c.key, false)
                            else coalesce(c.among ? (r.labels ->> c.key), false) end
    ))
  order by r.id desc --? newest_first
  order by r.id --? oldest_first
  limit $3
)
order by id desc --? newest_first
order by id --? oldest_first
limit $3;

-- name: run.edge
-- purpose: where run.list stopped looking; nothing if it saw the end
-- params: $1 namespace id int, $2 after id uuid or null, $3 how many were looked through int
-- fence: none, a read
select max(id::text collate "C")::uuid as id --? newest_first
select min(id::text collate "C")::uuid as id --? oldest_first
from (
  (
    select id from carillon.run
    where namespace_id = $1
      and ($2::uuid is null or id < $2) --? newest_first
      and ($2::uuid is null or id > $2) --? oldest_first
    order by id desc --? newest_first
    order by id --? oldest_first
    offset $3::int - 1
    limit 1
  )
  union all
  (
    select id from carillon.run_later
    where namespace_id = $1
      and id < coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
      and id > coalesce($2, '00000000-0000-0000-0000-000000000000') --? oldest_first
    order by id desc --? newest_first
    order by id --? oldest_first
    offset $3::int - 1
    limit 1
  )
) as edges
having count(*) > 0;

-- name: run.matches
-- purpose: the live runs of a filter, up to a number: counted, or explained for an estimate
-- params: $1 namespace id int, $2 statuses text[] or null, $3 task, $4 queue text or null, $5 job id uuid or null, $6 session uuid
--         or null, $7 owner text or null, $8 one-off jobs only boolean, $9 created from, $10 created before timestamptz or null,
--         $11 kind of trigger text or null, $12 labels jsonb or null, $13 other conditions on labels jsonb or null,
--         $14 how many at most int or null
-- fence: none, a read
select id from (
  select id, state, task, queue, job_id, session_id, owner, created_at, trigger, labels from carillon.run where namespace_id = $1
  union all
  select r.id, 'scheduled', l.task, l.queue, r.id, null, r.owner, r.created_at, 'once', r.labels
  from carillon.run_later r join carillon.lane l on l.id = r.lane
  where r.namespace_id = $1
) r
where ($2::text[] is null or state = any ($2)) and ($3::text is null or task = $3) and ($4::text is null or queue = $4)
  and ($5::uuid is null or job_id = $5) and ($6::uuid is null or session_id = $6) and ($7::text is null or owner = $7)
  and (not $8::boolean or trigger = 'once')
  and ($9::timestamptz is null or created_at >= $9) and ($10::timestamptz is null or created_at < $10)
  and ($11::text is null or split_part(trigger, ':', 1) = $11)
  and ($12::jsonb is null or labels @> $12::jsonb)
  and ($13::jsonb is null or not exists (
    select from jsonb_to_recordset($13::jsonb) as c (key text, is_in boolean, among jsonb)
    where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                          else coalesce(c.among ? (labels ->> c.key), false) end
  ))
limit $14;
