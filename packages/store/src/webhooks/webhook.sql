-- name: webhook.insert
-- purpose: stores an endpoint
-- params: $1 id uuid, $2 namespace id int, $3 url text, $4 types text[], $5 tasks text[] or null, $6 queues text[] or null,
--         $7 description text or null, $8 include text[], $9 secret text
-- fence: primary key
insert into carillon.webhook (id, namespace_id, url, types, tasks, queues, description, include, secret)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
returning *;

-- name: webhook.find
-- purpose: an endpoint by id
-- params: $1 namespace id int, $2 id uuid
-- fence: none, a read
select * from carillon.webhook where namespace_id = $1 and id = $2;

-- name: webhook.list
-- purpose: a keyset page of endpoints, newest first
-- params: $1 namespace id int, $2 before id uuid or null, $3 limit int
-- fence: none, a read
select * from carillon.webhook
where namespace_id = $1 and ($2::uuid is null or id < $2)
order by id desc
limit $3;

-- name: webhook.lock
-- purpose: an endpoint by id, for a change of it
-- params: $1 namespace id int, $2 id uuid
-- fence: the row's lock
select * from carillon.webhook where namespace_id = $1 and id = $2 for update;

-- name: webhook.put
-- purpose: an endpoint as it is from now on; one that is enabled anew has not failed yet
-- params: $1 id uuid, $2 url text, $3 types text[], $4 tasks text[] or null, $5 queues text[] or null, $6 description text or null,
--         $7 include text[], $8 is enabled boolean, $9 disabled reason text or null
-- fence: the row is locked
update carillon.webhook
set url = $2, types = $3, tasks = $4, queues = $5, description = $6, include = $7, is_enabled = $8, disabled_reason = $9,
    failing_since = case when $8 and is_enabled then failing_since end, version = version + 1, updated_at = clock_timestamp()
where id = $1
returning *;

-- name: webhook.rotate
-- purpose: a new secret; the one before goes on for a time
-- params: $1 namespace id int, $2 id uuid, $3 secret text, $4 how long the old one goes on ms bigint
-- fence: the row's lock
update carillon.webhook
set old_secret = case when $4 > 0 then secret end,
    old_secret_until = case when $4 > 0 then clock_timestamp() + $4 * interval '1 millisecond' end,
    secret = $3, version = version + 1, updated_at = clock_timestamp()
where namespace_id = $1 and id = $2
returning *;

-- name: webhook.delete
-- purpose: removes an endpoint; deliveries that are under way find it gone
-- params: $1 namespace id int, $2 id uuid
-- fence: the row's lock
delete from carillon.webhook where namespace_id = $1 and id = $2 returning id;

-- name: webhook.signing
-- purpose: where a delivery goes, and the secrets that sign it
-- params: $1 id uuid
-- fence: none, a read
select url, is_enabled, secret, case when old_secret_until > clock_timestamp() then old_secret end as old_secret
from carillon.webhook where id = $1;

-- name: webhook.delivered
-- purpose: an endpoint took a delivery: whatever failed before is over
-- params: $1 id uuid
-- fence: none; only a row that says otherwise is written
update carillon.webhook set failing_since = null where id = $1 and failing_since is not null;

-- name: webhook.failed
-- purpose: a delivery failed. An endpoint that is gone, or has taken nothing for too long, is disabled; answers whether it is
-- params: $1 id uuid, $2 is gone boolean, $3 how long it may fail ms bigint
-- fence: the row's lock; one that is disabled stays as it is
update carillon.webhook
set failing_since = coalesce(failing_since, clock_timestamp()),
    is_enabled = not ($2 or failing_since < clock_timestamp() - $3 * interval '1 millisecond') is true,
    disabled_reason = case
      when $2 then 'gone'
      when failing_since < clock_timestamp() - $3 * interval '1 millisecond' then 'failing'
    end,
    version = version + case when $2 or failing_since < clock_timestamp() - $3 * interval '1 millisecond' then 1 else 0 end
where id = $1 and is_enabled
returning is_enabled;

-- name: webhook.enabled
-- purpose: the endpoints that want to be told
-- params: $1 namespace ids int[] or null for all, $2 limit int
-- fence: none, a read
select id, namespace_id, types, tasks, queues, include
from carillon.webhook
where is_enabled and ($1::int[] is null or namespace_id = any ($1))
order by id
limit $2;

-- name: webhook.take_notices
-- purpose: takes ends of runs that are to be told
-- params: $1 limit int
-- fence: the rows' locks; who takes them makes the deliveries in the same transaction
delete from carillon.run_notice n
using (
  select run_id from carillon.run_notice order by run_id limit $1 for update skip locked
) t
where n.run_id = any (array[t.run_id])
returning n.run_id, n.namespace_id, n.ended_at;
