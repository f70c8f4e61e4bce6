-- Limits as operators see them: what is in use, who waits, and limits that are set by hand. How runs are taken in and admitted, and the
-- limits of queues and namespaces, are in the files beside this one.

-- name: limit.list
-- purpose: a keyset page of limits that are in use or that an operator has set
-- params: $1 namespace id int, $2 after id bigint, $3 limit int, $4 scope, $5 kind, $6 name text or null
-- fence: none, a read
select id, namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, is_fixed, defined_at, used, starts, stopped_by, is_counted
from carillon.limit_key
where namespace_id = $1 and id > $2 and ($4::text is null or scope = $4) and ($5::text is null or kind = $5)
  and ($6::text is null or name = $6)
order by id
limit $3;

-- name: limit.waiting
-- purpose: who waits for limits, counted up to a limit, by what they wait for
-- params: $1 namespace id int, $2 most int
-- fence: none, a read
select w.limits, w.queue, count(*) as count, min(w.run_at) as oldest_at
from (
  select limits, queue, run_at from carillon.run
  where stage = 3 and limits is not null and namespace_id = $1
  limit $2
) w
group by w.limits, w.queue;

-- name: limit.fix
-- purpose: sets a limit by hand: what runs say of it does not count until it is given back
-- params: $1 namespace id int, $2 id bigint, $3 limit int or null, $4 per ms bigint or null, $5 burst int or null, $6 fixed boolean or
--         null, $7 goes on after a failure boolean; null stays
-- fence: the row's lock
update carillon.limit_key
set max_count = coalesce($3, max_count), per_ms = coalesce($4, per_ms), burst = coalesce($5, burst), is_fixed = coalesce($6, is_fixed),
    stopped_by = case when $7 then null else stopped_by end, used_at = clock_timestamp()
where namespace_id = $1 and id = $2
returning id, namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, is_fixed, defined_at, used, starts, stopped_by, is_counted;

-- name: limit.of_run
-- purpose: what a run waits for, and how many wait before it behind the same gate, counted up to a limit
-- params: $1 namespace id int, $2 run uuid, $3 most int
-- fence: none, a read
select r.limits, r.queue, q.limits as queue_limits, n.limits as namespace_limits, before.count as position
from carillon.run r
left join carillon.queue q on q.namespace_id = r.namespace_id and q.name = r.queue
join carillon.namespace n on n.id = r.namespace_id
cross join lateral (
  select count(*) from (
    select from carillon.run o
    where split_part(o.limits, E'\n', 1) = split_part(r.limits, E'\n', 1) and o.stage = 3 and o.limits is not null
      and case when r.limits like 'o:%' then (o.nominal_at, o.id) < (r.nominal_at, r.id) else (o.rank, o.id) < (r.rank, r.id) end
    limit $3
  ) as others
) as before
where r.namespace_id = $1 and r.id = $2 and r.stage = 3 and r.limits is not null;

-- name: limit.named
-- purpose: limits by name
-- params: $1 namespace id int, $2 scopes text[], $3 kinds text[], $4 names text[]
-- fence: none, a read
select k.id, k.namespace_id, k.scope, k.kind, k.name, k.max_count, k.per_ms, k.burst, k.on_failure, k.is_fixed, k.defined_at, k.used,
       k.starts, k.stopped_by, k.is_counted
from carillon.limit_key k
join (
  select $1::int as namespace_id, unnest($2::text[]) as scope, unnest($3::text[]) as kind, unnest($4::text[]) as name
) i
  on k.namespace_id = any (array[i.namespace_id]) and k.scope = i.scope and k.kind = i.kind and k.name = i.name;
