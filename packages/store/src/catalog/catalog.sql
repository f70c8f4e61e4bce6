-- name: catalogue.tasks
-- purpose: a page of the tasks of a namespace by name: those that workers serve or said something about, that jobs name, and that finished
--   runs had. Of jobs one step in an index for each task
-- params: $1 namespace id int, $2 after name text or null, $3 limit int, $4 only this one text or null, $5 the page of tasks that
--         finished runs had text[]
-- fence: none, a read
with recursive of_jobs as (
  select min(task) as task, 1 as number from carillon.job
  where namespace_id = $1 and task > coalesce($2, '') and ($4::text is null or task = $4)
  union all
  select (
    select min(j.task) from carillon.job j where j.namespace_id = $1 and j.task > o.task and ($4::text is null or j.task = $4)
  ), o.number + 1
  from of_jobs o
  where o.task is not null and o.number < $3
), served as materialized (
  select t.task, s.queues, s.slots, s.state
  from carillon.worker_session s cross join lateral unnest(s.tasks) as t (task)
  where case
      when s.namespaces is null then s.namespace_id = $1
      else s.namespaces && array['*', (select n.name from carillon.namespace n where n.id = $1)]
    end
    and t.task > coalesce($2, '') and ($4::text is null or t.task = $4)
), named as (
  select task from of_jobs where task is not null
  union
  select r.task from unnest($5::text[]) as r (task)
  union
  select task from served
  union
  (select name from carillon.task
   where namespace_id = $1 and name > coalesce($2, '') and ($4::text is null or name = $4)
   order by name limit $3)
), shown as (
  select task from named order by task limit $3
)
select n.task as name, count(s.task)::int as workers, coalesce(sum(s.slots), 0)::int as slots,
       array(select distinct q.queue from served o cross join lateral unnest(o.queues) as q (queue) where o.task = n.task order by 1) as queues,
       exists (select from of_jobs o where o.task = n.task) as "hasJobs",
       (select max(d.expected_ms) from carillon.task_duration d where d.namespace_id = $1 and d.task = n.task) as "expectedMs",
       (select t.defaults from carillon.task t where t.namespace_id = $1 and t.name = n.task) as defaults
from shown n left join served s on s.task = n.task and s.state = 'active'
group by n.task
order by n.task;

-- name: catalogue.tasks_of_runs
-- purpose: a page of the tasks that runs had which ended within some days: one step in an index for each task and day
-- params: $1 namespace id int, $2 after name text or null, $3 limit int, $4 only this one text or null, $5 ended from, $6 ended before
--         timestamptz
-- fence: none, a read
with recursive of_runs as (
  select min(task) as task, 1 as number from carillon.run_history
  where namespace_id = $1 and task > coalesce($2, '') and ($4::text is null or task = $4)
    and finished_at >= $5::timestamptz and finished_at < $6::timestamptz
  union all
  select (
    select min(h.task) from carillon.run_history h
    where h.namespace_id = $1 and h.task > o.task and ($4::text is null or h.task = $4)
      and h.finished_at >= $5::timestamptz and h.finished_at < $6::timestamptz
  ), o.number + 1
  from of_runs o
  where o.task is not null and o.number < $3
)
select task from of_runs where task is not null order by task;

-- name: catalogue.nodes
-- purpose: the nodes of the cluster with what each owns, and since when nothing was heard of it by the database's clock
-- params: none
-- fence: none, a read
select n.id, n.name, n.address, n.version, n.started_at as "startedAt", n.heartbeat_at as "heartbeatAt", n.skew_ms as "skewMs",
       n.takes_shards as "takesShards",
       greatest(0, extract(epoch from clock_timestamp() - n.heartbeat_at) * 1000)::int as "silentMs",
       (select count(*)::int from carillon.shard s where s.owner = n.id) as shards
from carillon.node n
order by n.started_at, n.id;

-- name: catalogue.shards
-- purpose: who owns which shard, and under which epoch
-- params: none
-- fence: none, a read
select id, owner, epoch from carillon.shard order by id;
