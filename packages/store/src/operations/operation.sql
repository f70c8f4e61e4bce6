-- Work on many runs that goes on by itself. Each item is done by a statement that bears being repeated, so that a step whose node died
-- before it was noted is simply taken again.

-- name: operation.insert
-- purpose: stores an operation; the shard's owner takes its steps
-- params: $1 id uuid, $2 namespace id int, $3 shard smallint, $4 kind text, $5 request text, $6 actor text or null, $7 trace text or null
-- fence: primary key
insert into carillon.operation (id, namespace_id, shard, kind, state, request, actor, trace, created_at, updated_at)
values ($1, $2, $3, $4, 'running', $5::json, $6, $7::json, clock_timestamp(), clock_timestamp())
returning *;

-- name: operation.find
-- purpose: an operation by id
-- params: $1 namespace id int, $2 id uuid
-- fence: none, a read
select * from carillon.operation where namespace_id = $1 and id = $2;

-- name: operation.list
-- purpose: a keyset page of operations, newest first
-- params: $1 namespace id int, $2 before id uuid or null, $3 limit int
-- fence: none, a read
select * from carillon.operation
where namespace_id = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
order by id desc
limit $3;

-- name: operation.due
-- purpose: operations of some shards that go on, the one that waited longest first
-- params: $1 shards smallint[], $2 limit int
-- fence: none, a read; the step compares its number
select * from carillon.operation where state = 'running' and shard = any ($1::smallint[]) order by updated_at limit $2;

-- name: operation.step
-- purpose: notes what a step did
-- params: $1 id uuid, $2 step bigint, $3 cursor text or null, $4 seen, $5 done, $6 failed bigint, $7 failures text, $8 is the last boolean
-- fence: the number of the step, and the state: of two nodes that took the same step one notes it, and none after an abort
update carillon.operation
set step = step + 1, cursor = $3, seen = seen + $4, done = done + $5, failed = failed + $6, failures = $7::json,
    state = case when $8 then 'done' else state end,
    updated_at = clock_timestamp(),
    finished_at = case when $8 then clock_timestamp() end
where id = $1 and step = $2 and state = 'running'
returning *;

-- name: operation.abort
-- purpose: ends an operation that goes on; what it did stays done
-- params: $1 namespace id int, $2 id uuid, $3 reason text
-- fence: state on the row
update carillon.operation
set state = 'aborted', state_reason = $3, updated_at = clock_timestamp(), finished_at = clock_timestamp()
where namespace_id = $1 and id = $2 and state = 'running'
returning *;

-- name: operation.sweep
-- purpose: removes operations that ended long ago
-- params: $1 how long ago ms bigint, $2 limit int
-- fence: state and time on the row
delete from carillon.operation
where id = any (array(
  select id from carillon.operation
  where state <> 'running' and finished_at < clock_timestamp() - $1::bigint * interval '1 millisecond'
  limit $2
));
