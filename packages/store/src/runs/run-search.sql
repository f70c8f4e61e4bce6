-- Lists of live runs, near their time and far from it.

-- name: run.list
-- purpose: a keyset page of live runs, among the first `max_scanned` in the list's order. The hot table has no index by namespace:
--   at most `max_scanned_of_all` of its runs, of all namespaces, are read. A line with a tag is used where its tag is chosen
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
      where (:after::uuid is null or id < :after) and (:until::uuid is null or id >= :until) --? newest_first
      where (:after::uuid is null or id > :after) and (:until::uuid is null or id <= :until) --? oldest_first
      order by id desc --? newest_first
      order by id --? oldest_first
      limit :max_scanned_of_all
    ) scanned
    where namespace_id = :namespace_id
    order by id desc --? newest_first
    order by id --? oldest_first
    limit :max_scanned
  ) run
  where (not :one_off_only::boolean or job_id = id) and
    --+ run.conditions
  order by id desc --? newest_first
  order by id --? oldest_first
  limit :limit
)
union all
(
  select id, job_id, task, queue, priority, status, null, trigger, run_at, run_at,
         created_at, null, null, 0, 0, 0,
         session_id, payload, policy, null, null, null, labels, owner, deadline_at
  from (
    select far.id, far.id as job_id, lane.task, lane.queue, far.priority, 'scheduled' as status, 'once' as trigger, far.run_at,
           far.created_at, null::uuid as session_id, far.payload, far.policy, far.labels, far.owner, far.deadline_at
    from (
      select * from carillon.far_future_run
      where namespace_id = :namespace_id
        and id < coalesce(:after, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
        and id > coalesce(:after, '00000000-0000-0000-0000-000000000000') --? oldest_first
        and (:until::uuid is null or id >= :until) --? newest_first
        and (:until::uuid is null or id <= :until) --? oldest_first
        and id between coalesce(:job_id, '00000000-0000-0000-0000-000000000000')
                   and coalesce(:job_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by id desc --? newest_first
      order by id --? oldest_first
      limit :max_scanned
    ) far join carillon.lane on lane.id = far.lane
  ) run
  where
    --+ run.conditions
  order by id desc --? newest_first
  order by id --? oldest_first
  limit :limit
)
order by id desc --? newest_first
order by id --? oldest_first
limit :limit;

-- name: run.edge
-- purpose: where run.list stopped scanning; nothing if it read to the end
-- fence: none, a read
select max(id::text collate "C")::uuid as id --? newest_first
select min(id::text collate "C")::uuid as id --? oldest_first
from (
  (
    select id from carillon.run
    where (:after::uuid is null or id < :after) --? newest_first
    where (:after::uuid is null or id > :after) --? oldest_first
    order by id desc --? newest_first
    order by id --? oldest_first
    offset :max_scanned_of_all::int - 1
    limit 1
  )
  union all
  (
    select id
    from (
      select id, namespace_id from carillon.run
      where (:after::uuid is null or id < :after) --? newest_first
      where (:after::uuid is null or id > :after) --? oldest_first
      order by id desc --? newest_first
      order by id --? oldest_first
      limit :max_scanned_of_all
    ) scanned
    where namespace_id = :namespace_id
    order by id desc --? newest_first
    order by id --? oldest_first
    offset :max_scanned::int - 1
    limit 1
  )
  union all
  (
    select id from carillon.far_future_run
    where namespace_id = :namespace_id
      and id < coalesce(:after, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
      and id > coalesce(:after, '00000000-0000-0000-0000-000000000000') --? oldest_first
    order by id desc --? newest_first
    order by id --? oldest_first
    offset :max_scanned::int - 1
    limit 1
  )
) as edges
having count(*) > 0;

-- name: run.matches
-- purpose: the live runs of a filter, up to a number: counted, or explained for an estimate
-- fence: none, a read
select id from (
  select id,
         --+ run.shown_state
         as status, task, queue, job_id, session_id, owner, created_at, trigger, labels
  from carillon.run where namespace_id = :namespace_id
  union all
  select far.id, 'scheduled', lane.task, lane.queue, far.id, null, far.owner, far.created_at, 'once', far.labels
  from carillon.far_future_run far join carillon.lane on lane.id = far.lane
  where far.namespace_id = :namespace_id
) run
where (not :one_off_only::boolean or trigger = 'once') and
  --+ run.conditions
limit :max_count;

-- part: run.conditions
-- purpose: the conditions of a filter on the columns id, status, task, queue, job_id, session_id, owner, created_at, trigger and
--   labels. A member that is null excludes nothing. The job's index leaves out the run that has the job's id. Each statement itself
--   decides which jobs are one-off (`one_off_only`)
(:statuses::text[] is null or status = any (:statuses))
and (:task::text is null or task = :task) and (:queue::text is null or queue = :queue)
and (:job_id::uuid is null or job_id = :job_id and job_id <> id or job_id = :job_id and id = :job_id)
and (:session_id::uuid is null or session_id = :session_id) and (:owner::text is null or owner = :owner)
and (:created_from::timestamptz is null or created_at >= :created_from)
and (:created_before::timestamptz is null or created_at < :created_before)
and (:trigger::text is null or split_part(trigger, ':', 1) = :trigger)
and (:labels::jsonb is null or labels @> :labels::jsonb)
and (:label_conditions::jsonb is null or not exists (
  select from jsonb_to_recordset(:label_conditions::jsonb) as condition (key text, is_in boolean, among jsonb)
  where condition.is_in <> case when condition.among is null then coalesce(labels ? condition.key, false)
                                else coalesce(condition.among ? (labels ->> condition.key), false) end
))

-- part: run.shown_state
-- purpose: the status that callers see of a live run: one that was queued ahead of its time still waits for that time
case when state <> 'queued' or run_at <= statement_timestamp() then state
     when attempt > 0 and state_reason is null then 'retrying'
     else 'scheduled' end
