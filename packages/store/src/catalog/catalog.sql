-- name: catalogue.tasks
-- purpose: a page of the tasks of a namespace by name: those that workers serve or have defaults for, that jobs name, and that
--   finished runs had (`finished_tasks`). The tasks of jobs cost one step in an index each
-- fence: none, a read
with recursive of_jobs as (
  select min(task) as task, 1 as number from carillon.job
  where namespace_id = :namespace_id and task > coalesce(:after, '') and (:only::text is null or task = :only)
  union all
  select (
    select min(job.task) from carillon.job
    where job.namespace_id = :namespace_id and job.task > of_jobs.task and (:only::text is null or job.task = :only)
  ), of_jobs.number + 1
  from of_jobs
  where of_jobs.task is not null and of_jobs.number < :limit
), served as materialized (
  select served.task, session.queues, session.slots, session.state
  from carillon.worker_session session cross join lateral unnest(session.tasks) as served (task)
  where case
      when session.namespaces is null then session.namespace_id = :namespace_id
      else session.namespaces && array['*', (select name from carillon.namespace where id = :namespace_id)]
    end
    and served.task > coalesce(:after, '') and (:only::text is null or served.task = :only)
), named as (
  select task from of_jobs where task is not null
  union
  select finished.task from unnest(:finished_tasks::text[]) as finished (task)
  union
  select task from served
  union
  (select name from carillon.task
   where namespace_id = :namespace_id and name > coalesce(:after, '') and (:only::text is null or name = :only)
   order by name limit :limit)
), shown as (
  select task from named order by task limit :limit
)
select shown.task as name, count(active.task)::int as workers, coalesce(sum(active.slots), 0)::int as slots,
       array(
         select distinct source.queue from served cross join lateral unnest(served.queues) as source (queue)
         where served.task = shown.task
         order by 1
       ) as queues,
       exists (select from of_jobs where of_jobs.task = shown.task) as "hasJobs",
       (select max(expected_ms) from carillon.task_duration where namespace_id = :namespace_id and task = shown.task) as "expectedMs",
       (select defaults from carillon.task where namespace_id = :namespace_id and name = shown.task) as defaults
from shown left join served active on active.task = shown.task and active.state = 'active'
group by shown.task
order by shown.task;

-- name: catalogue.tasks_of_runs
-- purpose: a page of the tasks of the runs that ended within some days: one step in an index for each task and day
-- fence: none, a read
with recursive of_runs as (
  select min(task) as task, 1 as number from carillon.run_history
  where namespace_id = :namespace_id and task > coalesce(:after, '') and (:only::text is null or task = :only)
    and finished_at >= :ended_from::timestamptz and finished_at < :ended_before::timestamptz
  union all
  select (
    select min(history.task) from carillon.run_history history
    where history.namespace_id = :namespace_id and history.task > of_runs.task and (:only::text is null or history.task = :only)
      and history.finished_at >= :ended_from::timestamptz and history.finished_at < :ended_before::timestamptz
  ), of_runs.number + 1
  from of_runs
  where of_runs.task is not null and of_runs.number < :limit
)
select task from of_runs where task is not null order by task;

-- name: catalogue.nodes
-- purpose: the nodes of the cluster with the number of shards that each owns, and the age of its last heartbeat by the database's
--   clock
-- fence: none, a read
select node.id, node.name, node.address, node.version, node.started_at as "startedAt", node.heartbeat_at as "heartbeatAt",
       node.skew_ms as "skewMs", node.takes_shards as "takesShards", node.level,
       greatest(0, extract(epoch from clock_timestamp() - node.heartbeat_at) * 1000)::int as "silentMs",
       (select count(*)::int from carillon.shard where shard.owner = node.id) as shards
from carillon.node
order by node.started_at, node.id;

-- name: catalogue.shards
-- purpose: the owner and the epoch of each shard
-- fence: none, a read
select id, owner, epoch from carillon.shard order by id;
