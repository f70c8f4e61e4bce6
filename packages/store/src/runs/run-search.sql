-- Lists of live runs, near their time and far from it.

-- name: run.list
-- purpose: a keyset page of live runs among the first so many in the list's order. Those near their time have no index by namespace:
--   of all namespaces together no more than so many are looked at. A line with a tag counts where its tag is chosen
-- params: $1 namespace id int, $2 statuses, $3 task, $4 queue, $5 job id, $6 session, $7 owner, $8 one-off jobs only, $9 created from, $10 created
--         before, $11 kind of trigger, $12 labels, $13 other conditions on labels, as run.conditions has them,
--         $14 after id uuid or null, $15 limit int, $16 how many to look through int, $17 and how many of all namespaces int,
--         $18 the last id that is wanted uuid or null
-- fence: none, a read
(
  select id, job_id, task, queue, priority, status, state_reason as status_reason, trigger, nominal_at, run_at,
         created_at, coalesce(started_at, claimed_at) as started_at, null::timestamptz as finished_at, attempt, losses, fence,
         session_id, payload, policy, null::json as output, null::json as error, attempts, labels, owner, deadline_at
  from (
    select *,
      --+ run.shown_state
      as status
    from (
      select * from carillon.run
      where ($14::uuid is null or id < $14) and ($18::uuid is null or id >= $18) --? newest_first
      where ($14::uuid is null or id > $14) and ($18::uuid is null or id <= $18) --? oldest_first
      order by id desc --? newest_first
      order by id --? oldest_first
      limit $17
    ) looked
    where namespace_id = $1
    order by id desc --? newest_first
    order by id --? oldest_first
    limit $16
  ) r
  where (not $8::boolean or job_id = id) and
    --+ run.conditions
  order by id desc --? newest_first
  order by id --? oldest_first
  limit $15
)
union all
(
  select id, job_id, task, queue, priority, status, null, trigger, run_at, run_at,
         created_at, null, null, 0, 0, 0,
         session_id, payload, policy, null, null, null, labels, owner, deadline_at
  from (
    select l.id, l.id as job_id, lane.task, lane.queue, l.priority, 'scheduled' as status, 'once' as trigger, l.run_at, l.created_at,
           null::uuid as session_id, l.payload, l.policy, l.labels, l.owner, l.deadline_at
    from (
      select * from carillon.far_future_run
      where namespace_id = $1
        and id < coalesce($14, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
        and id > coalesce($14, '00000000-0000-0000-0000-000000000000') --? oldest_first
        and ($18::uuid is null or id >= $18) --? newest_first
        and ($18::uuid is null or id <= $18) --? oldest_first
        and id between coalesce($5, '00000000-0000-0000-0000-000000000000')
                   and coalesce($5, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by id desc --? newest_first
      order by id --? oldest_first
      limit $16
    ) l join carillon.lane on lane.id = l.lane
  ) r
  where
    --+ run.conditions
  order by id desc --? newest_first
  order by id --? oldest_first
  limit $15
)
order by id desc --? newest_first
order by id --? oldest_first
limit $15;

-- name: run.edge
-- purpose: where run.list stopped looking; nothing if it saw the end
-- params: $1 namespace id int, $2 after id uuid or null, $3 how many were looked through int, $4 and how many of all namespaces int
-- fence: none, a read
select max(id::text collate "C")::uuid as id --? newest_first
select min(id::text collate "C")::uuid as id --? oldest_first
from (
  (
    select id from carillon.run
    where ($2::uuid is null or id < $2) --? newest_first
    where ($2::uuid is null or id > $2) --? oldest_first
    order by id desc --? newest_first
    order by id --? oldest_first
    offset $4::int - 1
    limit 1
  )
  union all
  (
    select id
    from (
      select id, namespace_id from carillon.run
      where ($2::uuid is null or id < $2) --? newest_first
      where ($2::uuid is null or id > $2) --? oldest_first
      order by id desc --? newest_first
      order by id --? oldest_first
      limit $4
    ) looked
    where namespace_id = $1
    order by id desc --? newest_first
    order by id --? oldest_first
    offset $3::int - 1
    limit 1
  )
  union all
  (
    select id from carillon.far_future_run
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
-- params: $1 namespace id int, $2 statuses, $3 task, $4 queue, $5 job id, $6 session, $7 owner, $8 one-off jobs only, $9 created from, $10 created
--         before, $11 kind of trigger, $12 labels, $13 other conditions on labels, as run.conditions has them,
--         $14 how many at most int or null
-- fence: none, a read
select id from (
  select id,
         --+ run.shown_state
         as status, task, queue, job_id, session_id, owner, created_at, trigger, labels
  from carillon.run where namespace_id = $1
  union all
  select r.id, 'scheduled', l.task, l.queue, r.id, null, r.owner, r.created_at, 'once', r.labels
  from carillon.far_future_run r join carillon.lane l on l.id = r.lane
  where r.namespace_id = $1
) r
where (not $8::boolean or trigger = 'once') and
  --+ run.conditions
limit $14;
