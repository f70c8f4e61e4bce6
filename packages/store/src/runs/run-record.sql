-- name: record.keep_checkpoints
-- purpose: keeps where runs are to go on; the one that was saved last stays. Answers the runs that are still the sessions' own
-- params: $1 sessions uuid[], $2 run ids uuid[], $3 fences bigint[], $4 numbers bigint[], $5 values text[]
-- fence: (id, fence, session) on a running row, under a share lock: whoever takes the run away waits, or comes first
with held as materialized (
  select r.id, r.namespace_id, r.fence, i.number, i.value
  from carillon.run r
  join unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::text[]) as i (session_id, id, fence, number, value)
    on r.id = any (array[i.id])
  where r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  order by i.id
  for share of r
), kept as (
  insert into carillon.run_progress as s (run_id, namespace_id, checkpoint, checkpoint_fence, checkpoint_number, checkpoint_at)
  select id, namespace_id, value::json, fence, number, clock_timestamp() from held
  on conflict (run_id) do update
  set checkpoint = excluded.checkpoint, checkpoint_fence = excluded.checkpoint_fence,
      checkpoint_number = excluded.checkpoint_number, checkpoint_at = excluded.checkpoint_at
  where (s.checkpoint_fence, s.checkpoint_number) < (excluded.checkpoint_fence, excluded.checkpoint_number)
)
select id from held;

-- name: record.keep_progress
-- purpose: keeps how far runs are, the latest only. Answers the runs that are still the sessions' own
-- params: $1 sessions uuid[], $2 run ids uuid[], $3 fences bigint[], $4 numbers bigint[], $5 fractions real[], $6 texts text[]
-- fence: (id, fence, session) on a running row, without a lock: a stale figure is replaced by the next
with held as materialized (
  select r.id, r.namespace_id, r.fence, i.number, i.fraction, i.text
  from carillon.run r
  join unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::real[], $6::text[])
    as i (session_id, id, fence, number, fraction, text) on r.id = any (array[i.id])
  where r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  order by i.id
), kept as (
  insert into carillon.run_progress as s (run_id, namespace_id, progress, progress_text, progress_fence, progress_number, progress_at)
  select id, namespace_id, fraction, text, fence, number, clock_timestamp() from held
  on conflict (run_id) do update
  set progress = excluded.progress, progress_text = excluded.progress_text, progress_fence = excluded.progress_fence,
      progress_number = excluded.progress_number, progress_at = excluded.progress_at
  where (s.progress_fence, s.progress_number) < (excluded.progress_fence, excluded.progress_number)
)
select id from held;

-- name: record.keep_steps
-- purpose: keeps what steps came to; the first result stays. Answers the runs that are still the sessions' own
-- params: $1 sessions uuid[], $2 run ids uuid[], $3 fences bigint[], $4 names text[], $5 values text[]
-- fence: (id, fence, session) on a running row, under a share lock: whoever takes the run away waits, or comes first
with held as materialized (
  select r.id, r.namespace_id, r.fence, i.name, i.value
  from carillon.run r
  join unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[]) as i (session_id, id, fence, name, value)
    on r.id = any (array[i.id])
  where r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  order by i.id
  for share of r
), kept as (
  insert into carillon.run_step (run_id, name, namespace_id, fence, result, created_at)
  select id, name, namespace_id, fence, value::json, clock_timestamp() from held
  on conflict (run_id, name) do nothing
)
select id from held;

-- name: record.log
-- purpose: appends lines. Answers the runs that are still the sessions' own
-- params: $1 sessions uuid[], $2 run ids uuid[], $3 fences bigint[], $4 numbers int[], $5 levels text[], $6 messages text[],
--         $7 fields text[], $8 how long ago, in ms, bigint[]
-- fence: (id, fence, session) on a running row, without a lock: a line says what its own attempt did
with kept as (
  insert into carillon.run_log (run_id, fence, number, namespace_id, logged_at, level, message, fields)
  select r.id, r.fence, i.number, r.namespace_id,
         clock_timestamp() - least(i.ago_ms, 86400000) * interval '1 millisecond', i.level, i.message, i.fields::json
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::text[], $8::bigint[])
    as i (session_id, id, fence, number, level, message, fields, ago_ms)
  join carillon.run r on r.id = any (array[i.id])
  where r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning run_id
)
select distinct run_id as id from kept;

-- name: record.checkpoints
-- purpose: where runs are to go on
-- params: $1 run ids uuid[]
-- fence: none, a read
select run_id as id, checkpoint::text as value, checkpoint_at as at
from carillon.run_progress
where run_id = any ($1::uuid[]) and checkpoint is not null;

-- name: record.progress
-- purpose: how far runs are, for readers
-- params: $1 run ids uuid[]
-- fence: none, a read
select run_id as id, progress as fraction, progress_text as text, progress_at as at
from carillon.run_progress
where run_id = any ($1::uuid[]) and progress is not null;

-- name: record.steps
-- purpose: what steps came to
-- params: $1 run ids uuid[], $2 names text[]
-- fence: none, a read
select s.run_id as id, s.name, s.result::text as value, s.created_at as at
from unnest($1::uuid[], $2::text[]) as i (run_id, name)
join carillon.run_step s on s.run_id = any (array[i.run_id]) and s.name = i.name;

-- name: record.begin_once
-- purpose: begins what is to be done once, unless it was done or another run is at it; answers nothing then
-- params: $1 session uuid, $2 run id uuid, $3 fence bigint, $4 key text, $5 kept for ms bigint
-- fence: (id, fence, session) on a running row, under a share lock; the key is unique, and what an attempt began is taken over only
--   when its claim is over
with held as materialized (
  select r.id, r.namespace_id, r.fence
  from carillon.run r
  where r.id = $2 and r.fence = $3 and r.session_id = $1 and r.state = 'running'
  for share of r
)
insert into carillon.once as o (namespace_id, key, run_id, fence, begun_at, expires_at)
select namespace_id, $4, id, fence, clock_timestamp(), clock_timestamp() + $5::bigint * interval '1 millisecond' from held
on conflict (namespace_id, key) do update
set run_id = excluded.run_id, fence = excluded.fence, result = null, begun_at = excluded.begun_at, ended_at = null,
    expires_at = excluded.expires_at
where o.expires_at <= clock_timestamp() or o.result is null and (
  (o.run_id, o.fence) = (excluded.run_id, excluded.fence)
  or not exists (
    select from carillon.run r where r.id = any (array[o.run_id]) and r.fence = o.fence and r.state = 'running'
  )
)
returning o.key;

-- name: record.find_once
-- purpose: what was done once; no value while somebody is at it
-- params: $1 namespace id int, $2 key text
-- fence: none, a read
select result::text as value, ended_at as at
from carillon.once
where namespace_id = $1 and key = $2 and expires_at > clock_timestamp();

-- name: record.end_once
-- purpose: keeps the result of what was done once, also when the run was lost since: it was done, and nobody else has begun it
-- params: $1 namespace id int, $2 key text, $3 run id uuid, $4 fence bigint, $5 value text
-- fence: the row names this attempt
update carillon.once
set result = $5::json, ended_at = clock_timestamp()
where namespace_id = $1 and key = $2 and run_id = $3 and fence = $4
returning key;

-- name: record.lines
-- purpose: a keyset page of the lines of a run, in the order in which it wrote them
-- params: $1 namespace id int, $2 run id uuid, $3 after fence bigint, $4 after number int, $5 limit int,
--         $6 not logged before timestamptz, $7 levels text[]
-- fence: none, a read
select distinct on (fence, number) fence, number, logged_at, level, message, fields
from carillon.run_log
where run_id = $2 and namespace_id = $1 and (fence, number) > ($3::bigint, $4::int) and logged_at >= $6 and level = any ($7::text[])
order by fence, number
limit $5;

-- name: record.sweep_states
-- purpose: removes what runs left that are not live any more, some rows at a time; answers where to go on and how many went
-- params: $1 after run id uuid, $2 limit int
-- fence: none: a run that has ended never comes back, and what is written of a run needs its row
with part as materialized (
  select run_id from carillon.run_progress where run_id > $1 order by run_id limit $2
), gone as (
  delete from carillon.run_progress s using part
  where s.run_id = any (array[part.run_id])
    and not exists (select from carillon.run r where r.id = any (array[part.run_id]))
  returning s.run_id
)
select (select max(run_id::text) from part) as last, (select count(*) from part) as seen, (select count(*) from gone) as gone;

-- name: record.sweep_steps
-- purpose: as record.sweep_states, of steps
-- params: $1 after run id uuid, $2 limit int
-- fence: none: a run that has ended never comes back, and what is written of a run needs its row
with part as materialized (
  select distinct run_id from carillon.run_step where run_id > $1 order by run_id limit $2
), gone as (
  delete from carillon.run_step s using part
  where s.run_id = any (array[part.run_id])
    and not exists (select from carillon.run r where r.id = any (array[part.run_id]))
  returning s.run_id
)
select (select max(run_id::text) from part) as last, (select count(*) from part) as seen, (select count(*) from gone) as gone;

-- name: record.sweep_onces
-- purpose: removes what was to be remembered until now
-- params: $1 limit int
-- fence: the time is compared on the row
delete from carillon.once o
using (
  select namespace_id, key from carillon.once where expires_at <= statement_timestamp() order by expires_at limit $1
) t
where o.namespace_id = any (array[t.namespace_id]) and o.key = t.key and o.expires_at <= clock_timestamp();
