-- name: webhook.insert
-- purpose: stores an endpoint
-- fence: primary key
insert into carillon.webhook (id, namespace_id, url, types, tasks, queues, description, include, secret)
values (:id, :namespace_id, :url, :types, :tasks, :queues, :description, :include, :secret)
returning *;

-- name: webhook.find
-- purpose: reads an endpoint by id
-- fence: none, a read
select * from carillon.webhook where namespace_id = :namespace_id and id = :id;

-- name: webhook.list
-- purpose: reads a keyset page of endpoints, the newest first
-- fence: none, a read
select * from carillon.webhook
where namespace_id = :namespace_id and (:before_id::uuid is null or id < :before_id)
order by id desc
limit :limit;

-- name: webhook.lock
-- purpose: locks and reads an endpoint for a change
-- fence: the row lock
select * from carillon.webhook where namespace_id = :namespace_id and id = :id for update;

-- name: webhook.replace
-- purpose: writes a changed endpoint; an endpoint that is enabled again starts without failures
-- fence: the transaction has the row locked
update carillon.webhook
set url = :url, types = :types, tasks = :tasks, queues = :queues, description = :description, include = :include,
    is_enabled = :is_enabled, disabled_reason = :disabled_reason,
    failing_since = case when :is_enabled and is_enabled then failing_since end, version = version + 1,
    updated_at = clock_timestamp()
where id = :id
returning *;

-- name: webhook.rotate
-- purpose: stores a new secret; the old one signs too for :overlap_ms
-- fence: the row lock
update carillon.webhook
set old_secret = case when :overlap_ms > 0 then secret end,
    old_secret_until = case when :overlap_ms > 0 then clock_timestamp() + :overlap_ms * interval '1 millisecond' end,
    secret = :secret, version = version + 1, updated_at = clock_timestamp()
where namespace_id = :namespace_id and id = :id
returning *;

-- name: webhook.delete
-- purpose: deletes an endpoint; deliveries in progress find no endpoint
-- fence: the row lock
delete from carillon.webhook where namespace_id = :namespace_id and id = :id returning id;

-- name: webhook.target
-- purpose: reads the URL of an endpoint and the secrets that sign a delivery to it
-- fence: none, a read
select url, is_enabled, secret, case when old_secret_until > clock_timestamp() then old_secret end as old_secret
from carillon.webhook where id = :id;

-- name: webhook.record_success
-- purpose: after a successful delivery the endpoint counts as working
-- fence: none; only a row that says otherwise is written
update carillon.webhook set failing_since = null where id = :id and failing_since is not null;

-- name: webhook.record_failure
-- purpose: after a failed delivery, disables an endpoint that is gone or has failed for more than :max_failing_ms; returns whether it is
--   enabled
-- fence: the row lock; a disabled endpoint stays as it is
update carillon.webhook
set failing_since = coalesce(failing_since, clock_timestamp()),
    is_enabled = not (:is_gone or failing_since < clock_timestamp() - :max_failing_ms * interval '1 millisecond') is true,
    disabled_reason = case
      when :is_gone then 'gone'
      when failing_since < clock_timestamp() - :max_failing_ms * interval '1 millisecond' then 'failing'
    end,
    version = version
      + case when :is_gone or failing_since < clock_timestamp() - :max_failing_ms * interval '1 millisecond' then 1 else 0 end
where id = :id and is_enabled
returning is_enabled;

-- name: webhook.list_enabled
-- purpose: reads the enabled endpoints of some namespaces (null: of all)
-- fence: none, a read
select id, namespace_id, types, tasks, queues, include
from carillon.webhook
where is_enabled and (:namespace_ids::int[] is null or namespace_id = any (:namespace_ids))
order by id
limit :limit;

-- name: webhook.take_notices
-- purpose: deletes and returns notices of ended runs about which messages may be due
-- fence: the row locks; the caller stores the deliveries in the same transaction
delete from carillon.run_notice
using (
  select run_id from carillon.run_notice order by run_id limit :limit for update skip locked
) as locked
where run_notice.run_id = any (array[locked.run_id])
returning run_notice.run_id, run_notice.namespace_id, run_notice.ended_at;
