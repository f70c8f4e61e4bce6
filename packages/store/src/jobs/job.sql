-- part: job.columns
-- purpose: a job with its due state, as readers get it
job.id, job.key, job.task, job.queue, job.priority, job.payload, job.schedule, job.policy, job.labels, job.owner, job.version,
job.firing, job.pause, job.created_at, job.updated_at, job.defined_at, due.state, due.next_fire_at, due.fired_through, due.run_ids

-- part: job.filter
-- purpose: the conditions of a filter over jobs; a value that is null is no condition
(:task::text is null or task = :task) and (:queue::text is null or queue = :queue) and (:owner::text is null or owner = :owner)
and (:created_from::timestamptz is null or created_at >= :created_from)
and (:created_before::timestamptz is null or created_at < :created_before)
and (:labels::jsonb is null or labels @> :labels::jsonb)
and (:other_labels::jsonb is null or not exists (
  select from jsonb_to_recordset(:other_labels::jsonb) as label (key text, is_in boolean, among jsonb)
  where label.is_in <> case when label.among is null then labels ? label.key
                            else coalesce(label.among ? (labels ->> label.key), false) end
))

-- part: job.index_condition
-- purpose: the one condition whose index is scanned
and task = :task --? task
and queue = :queue --? queue
and owner = :owner --? owner
and labels @> :labels::jsonb --? labels

-- name: job.insert
-- purpose: a node stores recurring and keyed jobs with their first due time. A job whose key is taken is not inserted
-- fence: unique (namespace_id, key)
with requested as materialized (
  select * from unnest(
    :ids::uuid[], :namespace_ids::int[], :shards::smallint[], :lanes::int[], :keys::text[], :tasks::text[], :queues::text[],
    :priorities::smallint[], :payloads::text[], :schedules::text[], :policies::text[], :labels::text[], :owners::text[],
    :classes::smallint[], :next_nominals::timestamptz[], :next_fires::timestamptz[], :max_runs::int[], :states::text[],
    :firings::text[], :overlaps::text[], :catch_up_to::timestamptz[]
  ) as requested (id, namespace_id, shard, lane, key, task, queue, priority, payload, schedule, policy, labels, owner, class,
                  next_nominal_at, next_fire_at, max_runs, state, firing, overlap, catch_up_to)
), inserted as (
  insert into carillon.job (id, namespace_id, shard, lane, key, task, queue, priority, payload, schedule, policy, labels,
                            owner, firing, created_at, updated_at)
  select id, namespace_id, shard, lane, key, task, queue, priority, payload::json, schedule::json, policy::json,
         labels::jsonb, owner, firing::json, now(), now()
  from requested
  on conflict do nothing
  returning id, created_at,
            carillon.definition_key(namespace_id, schedule, firing, priority, task, queue, labels, deadline_ms) as definition
), inserted_due as (
  insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at, max_runs,
                                overlap, catch_up_to, defined_at, definition)
  select requested.id, requested.namespace_id, requested.shard, requested.class, requested.state, 1, requested.next_nominal_at,
         requested.next_fire_at, requested.max_runs, requested.overlap, requested.catch_up_to, inserted.created_at,
         inserted.definition
  from requested join inserted on inserted.id = requested.id
)
select id, created_at from inserted;

-- name: job.find
-- purpose: reads jobs by id
-- fence: none, a read
select
  --+ job.columns
  , job.has_downstream
from carillon.job join carillon.job_due as due on due.job_id = any (array[job.id])
where due.namespace_id = :namespace_id and job.id = any (:ids::uuid[]);

-- name: job.list
-- purpose: reads a keyset page of jobs among the first :max_scanned that one index returns in the order of the list. A line with a tag
--   counts if the tag is chosen. It is sent without a name, so the server plans it for its values
-- fence: none, a read
select
  --+ job.columns
from (
  select * from (
    select * from carillon.job
    where namespace_id = :namespace_id
      and (:after_id::uuid is null or id < :after_id) --? newest_first
      and (:after_id::uuid is null or id > :after_id) --? oldest_first
      --+ job.index_condition
    order by id desc --? newest_first
    order by id --? oldest_first
    limit :max_scanned
  ) as scanned
  where
    --+ job.filter
  order by id desc --? newest_first
  order by id --? oldest_first
  limit :limit
) as job join carillon.job_due as due on due.job_id = job.id
order by job.id desc --? newest_first
order by job.id --? oldest_first
limit :limit;

-- name: job.scan_end
-- purpose: reads the id at which the scan of job.list stopped; no row if it read all jobs
-- fence: none, a read
select id, :task::text as task, :queue::text as queue, :owner::text as owner, :labels::jsonb as labels
from carillon.job
where namespace_id = :namespace_id
  and (:after_id::uuid is null or id < :after_id) --? newest_first
  and (:after_id::uuid is null or id > :after_id) --? oldest_first
  --+ job.index_condition
order by id desc --? newest_first
order by id --? oldest_first
offset :max_scanned::int - 1
limit 1;

-- name: job.scan_estimate
-- purpose: the jobs that one index returns for a filter. It is only explained: the planner's estimate decides which index job.list scans
-- fence: none, a read
select :task::text, :queue::text, :owner::text, :labels::jsonb
from carillon.job
where namespace_id = :namespace_id
  --+ job.index_condition
  and true;

-- name: job.list_matching
-- purpose: reads up to :max ids of the jobs that match a filter: counted, or explained for an estimate
-- fence: none, a read
select id
from carillon.job
where namespace_id = :namespace_id
  and
  --+ job.filter
limit :max;

-- name: job.list_by_keys
-- purpose: reads the jobs that have these keys now, the newest first
-- fence: none, a read
select
  --+ job.columns
  , job.has_downstream
from (
  select * from carillon.job
  where namespace_id = :namespace_id and key = any (:keys::text[]) and key is not null and ended_at is null
  offset 0
) as job join carillon.job_due as due on due.job_id = any (array[job.id])
order by job.id desc;

-- name: job.id_of_key
-- purpose: reads the job that has a key, or else the newest ended job that had it
-- fence: none, a read
select id
from (
  (select id, 0 as age from carillon.job where namespace_id = :namespace_id and key = :key and ended_at is null)
  union all
  (
    select id, 1 from carillon.job
    where namespace_id = :namespace_id and key = :key and ended_at is not null
    order by id desc
    limit 1
  )
) as found
order by age
limit 1;
