-- name: job.insert
-- purpose: stores recurring and keyed jobs with their first due time; a taken key inserts nothing for that row
-- params: $1 ids uuid[], $2 namespace ids int[], $3 shards smallint[], $4 lanes int[], $5 keys text[], $6 tasks text[],
--         $7 queues text[], $8 priorities smallint[], $9 payloads text[], $10 schedules text[], $11 policies text[],
--         $12 labels text[], $13 owners text[], $14 classes smallint[], $15 next nominals timestamptz[],
--         $16 next fires timestamptz[], $17 max runs int[], $18 states text[], $19 firing policies text[], $20 overlaps text[],
--         $21 catch up to timestamptz[]
-- fence: unique (namespace_id, key)
with input as materialized (
  select * from unnest(
    $1::uuid[], $2::int[], $3::smallint[], $4::int[], $5::text[], $6::text[], $7::text[], $8::smallint[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::smallint[], $15::timestamptz[], $16::timestamptz[], $17::int[],
    $18::text[], $19::text[], $20::text[], $21::timestamptz[]
  ) as i (id, namespace_id, shard, lane, key, task, queue, priority, payload, schedule, policy, labels, owner, class,
          next_nominal_at, next_fire_at, max_runs, state, firing, overlap, catch_up_to)
), made as (
  insert into carillon.job (id, namespace_id, shard, lane, key, task, queue, priority, payload, schedule, policy, labels,
                            owner, firing, created_at, updated_at)
  select id, namespace_id, shard, lane, key, task, queue, priority, payload::json, schedule::json, policy::json,
         labels::jsonb, owner, firing::json, now(), now()
  from input
  on conflict do nothing
  returning id, created_at,
            carillon.definition_key(namespace_id, schedule, firing, priority, task, queue, labels, deadline_ms) as definition
), due as (
  insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at, max_runs,
                                overlap, catch_up_to, defined_at, definition)
  select i.id, i.namespace_id, i.shard, i.class, i.state, 1, i.next_nominal_at, i.next_fire_at, i.max_runs, i.overlap,
         i.catch_up_to, m.created_at, m.definition
  from input i join made m on m.id = i.id
)
select id, created_at from made;

-- name: job.find
-- purpose: jobs with their due state
-- params: $1 namespace id int, $2 ids uuid[]
-- fence: none, a read
select j.id, j.key, j.task, j.queue, j.priority, j.payload, j.schedule, j.policy, j.labels, j.owner, j.version,
       j.firing, j.pause, j.created_at, j.updated_at, j.defined_at, d.state, d.next_fire_at, d.fired_through, d.run_ids, j.has_downstream
from carillon.job j join carillon.job_due d on d.job_id = any (array[j.id])
where d.namespace_id = $1 and j.id = any ($2::uuid[]);

-- name: job.list
-- purpose: a keyset page of stored jobs among the first so many that one index gives in the list's order. A line with a tag counts
--   where its tag is chosen. Sent without a name, so that it is planned for its values
-- params: $1 namespace id int, $2 after id uuid or null, $3 limit int, $4 task, $5 queue, $6 owner text or null, $7 created from,
--         $8 created before timestamptz or null, $9 labels jsonb or null, $10 other conditions on labels jsonb or null,
--         $11 how many to look through int
-- fence: none, a read
select j.id, j.key, j.task, j.queue, j.priority, j.payload, j.schedule, j.policy, j.labels, j.owner, j.version,
       j.firing, j.pause, j.created_at, j.updated_at, j.defined_at, d.state, d.next_fire_at, d.fired_through, d.run_ids
from (
  select * from (
    select * from carillon.job
    where namespace_id = $1
      and ($2::uuid is null or id < $2) --? newest_first
      and ($2::uuid is null or id > $2) --? oldest_first
      and task = $4 --? task
      and queue = $5 --? queue
      and owner = $6 --? owner
      and labels @> $9::jsonb --? labels
    order by id desc --? newest_first
    order by id --? oldest_first
    limit $11
  ) looked
  where ($4::text is null or task = $4) and ($5::text is null or queue = $5) and ($6::text is null or owner = $6)
    and ($7::timestamptz is null or created_at >= $7) and ($8::timestamptz is null or created_at < $8)
    and ($9::jsonb is null or labels @> $9::jsonb)
    and ($10::jsonb is null or not exists (
      select from jsonb_to_recordset($10::jsonb) as c (key text, is_in boolean, among jsonb)
      where c.is_in <> case when c.among is null then labels ? c.key else coalesce(c.among ? (labels ->> c.key), false) end
    ))
  order by id desc --? newest_first
  order by id --? oldest_first
  limit $3
) j join carillon.job_due d on d.job_id = j.id
order by j.id desc --? newest_first
order by j.id --? oldest_first
limit $3;

-- name: job.edge
-- purpose: where job.list stopped looking; nothing if it saw the end
-- params: $1 namespace id int, $2 after id uuid or null, $3 task, $4 queue, $5 owner text or null, $6 labels jsonb or null,
--         $7 how many were looked through int
-- fence: none, a read
select id, $3::text as task, $4::text as queue, $5::text as owner, $6::jsonb as labels from carillon.job
where namespace_id = $1
  and ($2::uuid is null or id < $2) --? newest_first
  and ($2::uuid is null or id > $2) --? oldest_first
  and task = $3 --? task
  and queue = $4 --? queue
  and owner = $5 --? owner
  and labels @> $6::jsonb --? labels
order by id desc --? newest_first
order by id --? oldest_first
offset $7::int - 1
limit 1;

-- name: job.under
-- purpose: the jobs that one index gives for a filter. Only explained: the planner's estimate says by which index to look
-- params: $1 namespace id int, $2 task, $3 queue, $4 owner text or null, $5 labels jsonb or null
-- fence: none, a read
select $2::text, $3::text, $4::text, $5::jsonb
from carillon.job
where namespace_id = $1
  and task = $2 --? task
  and queue = $3 --? queue
  and owner = $4 --? owner
  and labels @> $5::jsonb --? labels
  and true;

-- name: job.matches
-- purpose: the stored jobs of a filter, up to a number: counted, or explained for an estimate
-- params: $1 namespace id int, $2 task, $3 queue, $4 owner text or null, $5 created from, $6 created before timestamptz or null,
--         $7 labels jsonb or null, $8 other conditions on labels jsonb or null, $9 how many at most int or null
-- fence: none, a read
select id
from carillon.job
where namespace_id = $1
  and ($2::text is null or task = $2) and ($3::text is null or queue = $3) and ($4::text is null or owner = $4)
  and ($5::timestamptz is null or created_at >= $5) and ($6::timestamptz is null or created_at < $6)
  and ($7::jsonb is null or labels @> $7::jsonb)
  and ($8::jsonb is null or not exists (
    select from jsonb_to_recordset($8::jsonb) as c (key text, is_in boolean, among jsonb)
    where c.is_in <> case when c.among is null then labels ? c.key else coalesce(c.among ? (labels ->> c.key), false) end
  ))
limit $9;

-- name: job.of_keys
-- purpose: the jobs that have keys now, with their due state, the newest first
-- params: $1 namespace id int, $2 keys text[]
-- fence: none, a read
select j.id, j.key, j.task, j.queue, j.priority, j.payload, j.schedule, j.policy, j.labels, j.owner, j.version,
       j.firing, j.pause, j.created_at, j.updated_at, j.defined_at, d.state, d.next_fire_at, d.fired_through, d.run_ids, j.has_downstream
from (
  select * from carillon.job
  where namespace_id = $1 and key = any ($2::text[]) and key is not null and ended_at is null
  offset 0
) j join carillon.job_due d on d.job_id = any (array[j.id])
order by j.id desc;

-- name: job.id_of_key
-- purpose: the job that has a key, else the newest of those that had it and ended
-- params: $1 namespace id int, $2 key text
-- fence: none, a read
select id
from (
  (select id, 0 as age from carillon.job where namespace_id = $1 and key = $2 and ended_at is null)
  union all
  (select id, 1 from carillon.job where namespace_id = $1 and key = $2 and ended_at is not null order by id desc limit 1)
) as found
order by age
limit 1;
