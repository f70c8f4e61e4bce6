-- Changes of many runs that proceed in steps. Each item is done by a statement that may be repeated, so a step of a node that died before
-- it was recorded is done again.

-- name: operation.insert
-- purpose: a caller starts an operation; the owner of the shard does its steps
-- fence: primary key
insert into carillon.operation (id, namespace_id, shard, kind, state, request, actor, trace, created_at, updated_at)
values (:id, :namespace_id, :shard, :kind, 'running', :request::json, :actor, :trace::json, clock_timestamp(), clock_timestamp())
returning *;

-- name: operation.find
-- purpose: reads an operation by id
-- fence: none, a read
select * from carillon.operation where namespace_id = :namespace_id and id = :id;

-- name: operation.list
-- purpose: reads a keyset page of operations, the newest first
-- fence: none, a read
select * from carillon.operation
where namespace_id = :namespace_id and id < coalesce(:before_id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
order by id desc
limit :limit;

-- name: operation.list_due
-- purpose: the owner of some shards reads their running operations, the one that waits longest first
-- fence: none, a read; the step compares its number
select * from carillon.operation where state = 'running' and shard = any (:shards::smallint[]) order by updated_at limit :limit;

-- name: operation.step
-- purpose: records the result of a step
-- fence: the number of the step, and the state: of two nodes that did the same step one records it, and none after an abort
update carillon.operation
set step = step + 1, cursor = :cursor, seen = seen + :seen, done = done + :done, failed = failed + :failed,
    failures = :failures::json,
    state = case when :is_last then 'done' else state end,
    updated_at = clock_timestamp(),
    finished_at = case when :is_last then clock_timestamp() end
where id = :id and step = :step and state = 'running'
returning *;

-- name: operation.abort
-- purpose: a caller ends a running operation; its earlier steps stay done
-- fence: state on the row
update carillon.operation
set state = 'aborted', state_reason = :reason, updated_at = clock_timestamp(), finished_at = clock_timestamp()
where namespace_id = :namespace_id and id = :id and state = 'running'
returning *;

-- name: operation.delete_old
-- purpose: deletes operations that ended long ago
-- fence: state and time on the row
delete from carillon.operation
where id = any (array(
  select id from carillon.operation
  where state <> 'running' and finished_at < clock_timestamp() - :older_than_ms::bigint * interval '1 millisecond'
  limit :limit
));
