-- Lists of live runs, near their time and far from it.

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
