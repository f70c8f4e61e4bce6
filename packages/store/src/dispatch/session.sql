-- name: session.open
-- purpose: registers a worker
-- params: $1 id uuid, $2 namespace id int, $3 name text, $4 queues text[], $5 tasks text[], $6 slots int, $7 node uuid,
--         $8 gateway uuid, $9 labels text, $10 versions text, $11 weights text, $12 is spot boolean,
--         $13 namespaces that it serves text[] or null
-- fence: the id is new; the revision's row is locked, so that who sets limits sees the session, or the session what was set
insert into carillon.worker_session (id, namespace_id, name, queues, tasks, slots, node_id, gateway_id, started_at, heartbeat_at,
                                     labels, versions, weights, is_spot, namespaces, limits_revision)
select $1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), clock_timestamp(), $9::jsonb, $10::jsonb, $11::jsonb, $12, $13, r.value
from carillon.revision r
where r.name = 'limits'
for share;

-- name: session.adopt
-- purpose: from now on another node claims for a worker; claims that are under way end first, since they lock its row
-- params: $1 id uuid, $2 gateway uuid
-- fence: the row's lock; what the session holds is read in a later statement
with taken as materialized (
  select id from carillon.worker_session where id = $1 for update
)
update carillon.worker_session s set gateway_id = $2, heartbeat_at = clock_timestamp()
from taken where s.id = any (array[taken.id])
returning s.namespace_id, s.name, s.queues, s.tasks, s.slots, s.state, s.labels, s.versions, s.weights, s.is_spot, s.namespaces;

-- name: session.heartbeat
-- purpose: says that workers live, and reads what was asked of them; a session that is not answered was declared dead, or is
--   served by another node
-- params: $1 ids uuid[], $2 gateway uuid
-- fence: the row exists and names this gateway; the row locks, taken in the order of ids, as limit.fence does. They let claims pass
with mine as materialized (
  select id from carillon.worker_session where id = any ($1::uuid[]) and gateway_id = $2 order by id for no key update
)
update carillon.worker_session s set heartbeat_at = clock_timestamp()
from mine where s.id = any (array[mine.id])
returning s.id, s.state;

-- name: session.touch
-- purpose: says that a worker lives whose polls another node answers
-- params: $1 id uuid
-- fence: the row exists
update carillon.worker_session set heartbeat_at = clock_timestamp() where id = $1 returning id;

-- name: session.namespace
-- purpose: whose worker a session is, for a node that does not serve it
-- params: $1 id uuid
-- fence: none, a read; it never changes
select namespace_id from carillon.worker_session where id = $1;

-- name: session.list
-- purpose: sessions with their last heartbeats, for the rescuer that watches them
-- params: none
-- fence: none, a read
select id, heartbeat_at::text as heartbeat from carillon.worker_session;

-- name: session.expire
-- purpose: declares sessions dead whose heartbeat is still the one that was watched
-- params: $1 ids uuid[], $2 heartbeats as seen timestamptz[]
-- fence: heartbeat_at as seen, on the rows locked in the order of ids; a claim holds a key share lock on its session row, so one of
--   the two sees the other
with silent as materialized (
  select s.id
  from carillon.worker_session s join unnest($1::uuid[], $2::timestamptz[]) as seen (id, heartbeat_at) on s.id = any (array[seen.id])
  where s.heartbeat_at = seen.heartbeat_at
  order by seen.id
  for update of s
)
delete from carillon.worker_session s using silent where s.id = any (array[silent.id])
returning s.id, s.namespace_id as "namespaceId", s.name;

-- name: session.close
-- purpose: a worker leaves by itself
-- params: $1 id uuid
-- fence: none
delete from carillon.worker_session where id = $1 returning id;

-- name: session.close_of_dead_nodes
-- purpose: sessions of in-process workers end with their node
-- params: none
-- fence: the node's row is gone; the row locks, taken in the order of ids
with orphaned as materialized (
  select s.id from carillon.worker_session s
  where s.node_id is not null and not exists (select 1 from carillon.node n where n.id = s.node_id)
  order by s.id
  for update of s
)
delete from carillon.worker_session s using orphaned where s.id = any (array[orphaned.id])
returning s.id, s.namespace_id as "namespaceId", s.name;

-- name: session.views
-- purpose: the workers of a namespace, newest first
-- params: $1 namespace id int, $2 only this one uuid, $3 only older than this one uuid, $4 limit int
-- fence: none, a read
select id, name, queues, tasks, slots, labels, versions, weights, is_spot, state, node_id is not null as in_process, started_at,
       heartbeat_at
from carillon.worker_session
where namespace_id = $1 and ($2::uuid is null or id = $2) and ($3::uuid is null or id < $3)
order by id desc
limit $4;

-- name: session.kinds
-- purpose: what the workers that have a task say of themselves, each kind once: to tell why nobody takes a run of it
-- params: $1 namespace id int, $2 task text
-- fence: none, a read
select queues, labels, versions, weights, is_spot, state, count(*)::int as count, sum(slots)::int as slots
from carillon.worker_session
where tasks @> array[$2::text]
  and case
    when namespaces is null then namespace_id = $1
    else namespaces && array['*', (select n.name from carillon.namespace n where n.id = $1)]
  end
group by queues, labels, versions, weights, is_spot, state;

-- name: session.ask
-- purpose: asks something of a worker
-- params: $1 namespace id int, $2 id uuid, $3 state text
-- fence: none: the last word counts
update carillon.worker_session set state = $3 where namespace_id = $1 and id = $2 returning id;
