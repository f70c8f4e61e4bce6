-- name: session.open
-- purpose: registers a worker; `namespaces` is null if it serves only its own
-- fence: the id is new; the share locks on the revisions order it with changes of limits and with shard.raise_fences: one of the two sees
--   the other. Both values are of the locked rows: a subquery would read the floor as it was before the statement waited
insert into carillon.worker_session (id, namespace_id, name, queues, tasks, slots, node_id, gateway_id, started_at, heartbeat_at,
                                     labels, versions, weights, is_spot, namespaces, limits_revision, fence_floor)
select :id, :namespace_id, :name, :queues, :tasks, :slots, :node_id, :gateway_id, clock_timestamp(), clock_timestamp(), :labels::jsonb,
       :versions::jsonb, :weights::jsonb, :is_spot, :namespaces, limits.value,
       fences.value
from carillon.revision fences cross join carillon.revision limits
where fences.name = 'fences' and limits.name = 'limits'
for share of fences, limits;

-- name: session.adopt
-- purpose: makes another gateway claim for a worker; claims under way end first, since they lock its row
-- fence: the row's lock; a later statement reads the runs that the session holds
with locked as materialized (
  select id from carillon.worker_session where id = :id for update
)
update carillon.worker_session session set gateway_id = :gateway_id, heartbeat_at = clock_timestamp()
from locked where session.id = any (array[locked.id])
returning session.namespace_id, session.name, session.queues, session.tasks, session.slots, session.state, session.labels,
          session.versions, session.weights, session.is_spot, session.namespaces;

-- name: session.heartbeat
-- purpose: records that workers live, and returns the state that an operator requested of each. A session that is missing in the
--   answer was declared dead, or another gateway serves it
-- fence: the row exists and names this gateway; the row locks, taken in the order of ids, as limit.fence does. They do not block
--   claims
with own as materialized (
  select id from carillon.worker_session where id = any (:ids::uuid[]) and gateway_id = :gateway_id order by id for no key update
)
update carillon.worker_session session set heartbeat_at = clock_timestamp()
from own where session.id = any (array[own.id])
returning session.id, session.state;

-- name: session.touch
-- purpose: records that a worker lives whose polls another gateway answers
-- fence: the row exists
update carillon.worker_session set heartbeat_at = clock_timestamp() where id = :id returning id;

-- name: session.namespace
-- purpose: the namespace of a session, for a node that does not serve it
-- fence: none, a read; it never changes
select namespace_id from carillon.worker_session where id = :id;

-- name: session.list
-- purpose: sessions with their last heartbeats, for the rescuer that watches them
-- fence: none, a read
select id, heartbeat_at::text as heartbeat from carillon.worker_session;

-- name: session.expire
-- purpose: declares sessions dead whose heartbeat has not changed since the rescuer read it
-- fence: heartbeat_at as read, on the rows locked in the order of ids; a claim holds a key share lock on its session row, so that
--   one of the two sees the other
with stale as materialized (
  select session.id
  from carillon.worker_session session
  join unnest(:ids::uuid[], :heartbeats::timestamptz[]) as seen (id, heartbeat_at) on session.id = any (array[seen.id])
  where session.heartbeat_at = seen.heartbeat_at
  order by seen.id
  for update of session
)
delete from carillon.worker_session session using stale where session.id = any (array[stale.id])
returning session.id, session.namespace_id as "namespaceId", session.name;

-- name: session.close
-- purpose: removes a worker that leaves by itself
-- fence: none
delete from carillon.worker_session where id = :id returning id;

-- name: session.close_of_dead_nodes
-- purpose: removes the sessions of in-process workers whose node is gone
-- fence: the node's row is gone; the row locks, taken in the order of ids
with orphaned as materialized (
  select session.id from carillon.worker_session session
  where session.node_id is not null and not exists (select 1 from carillon.node where node.id = session.node_id)
  order by session.id
  for update of session
)
delete from carillon.worker_session session using orphaned where session.id = any (array[orphaned.id])
returning session.id, session.namespace_id as "namespaceId", session.name;

-- name: session.views
-- purpose: the workers of a namespace, newest first: all, or one by its id
-- fence: none, a read
select id, name, queues, tasks, slots, labels, versions, weights, is_spot, state, node_id is not null as in_process, started_at,
       heartbeat_at
from carillon.worker_session
where namespace_id = :namespace_id and (:id::uuid is null or id = :id) and (:before::uuid is null or id < :before)
order by id desc
limit :limit;

-- name: session.kinds
-- purpose: the registrations of the workers that have a task, each kind once: the explanation of a run that no worker takes reads
--   them
-- fence: none, a read
select queues, labels, versions, weights, is_spot, state, count(*)::int as count, sum(slots)::int as slots
from carillon.worker_session
where tasks @> array[:task::text]
  and case
    when namespaces is null then namespace_id = :namespace_id
    else namespaces && array['*', (select name from carillon.namespace where id = :namespace_id)]
  end
group by queues, labels, versions, weights, is_spot, state;

-- name: session.served_tasks
-- purpose: the tasks that active workers serve in a namespace, for the hint at a similar name
-- fence: none, a read
select distinct served.task
from carillon.worker_session session cross join lateral unnest(session.tasks) as served (task)
where session.state = 'active'
  and case
    when session.namespaces is null then session.namespace_id = :namespace_id
    else session.namespaces && array['*', (select name from carillon.namespace where id = :namespace_id)]
  end
order by served.task
limit :limit;

-- name: session.request_state
-- purpose: stores the state that an operator requests of a worker
-- fence: none: the last request counts
update carillon.worker_session set state = :state where namespace_id = :namespace_id and id = :id returning id;
