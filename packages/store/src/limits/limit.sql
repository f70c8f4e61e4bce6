-- Limits as operators see them: which are in use, which runs wait for them, and limits that operators set. The intake and admission of
-- runs, and the limits of queues and namespaces, are in the files beside this one.

-- part: limit.columns
-- purpose: the row of a limit
id, namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, is_fixed, defined_at, used, starts, stopped_by,
is_counted

-- name: limit.list
-- purpose: a keyset page of limits that are in use or that an operator has set
-- fence: none, a read
select
  --+ limit.columns
from carillon.limit_key
where namespace_id = :namespace_id and id > :after and (:scope::text is null or scope = :scope) and (:kind::text is null or kind = :kind)
  and (:name::text is null or name = :name)
order by id
limit :limit;

-- name: limit.waiting
-- purpose: the runs that wait for limits, counted up to a number, by the limits that they wait for
-- fence: none, a read
select limits, queue, count(*) as count, min(run_at) as oldest_at
from (
  select limits, queue, run_at from carillon.run
  where stage = 3 and limits is not null and namespace_id = :namespace_id
  limit :max_runs
) waiting
group by limits, queue;

-- name: limit.override
-- purpose: sets a limit on an operator's request: the definitions of runs do not count until `is_fixed` is false again. What is
--   null stays; `resumes`: an ordering key continues after a failure
-- fence: the row's lock
update carillon.limit_key
set max_count = coalesce(:limit, max_count), per_ms = coalesce(:per_ms, per_ms), burst = coalesce(:burst, burst),
    is_fixed = coalesce(:is_fixed, is_fixed), stopped_by = case when :resumes then null else stopped_by end,
    used_at = clock_timestamp()
where namespace_id = :namespace_id and id = :id
returning
  --+ limit.columns
;

-- name: limit.of_run
-- purpose: the limits that a run waits for, and how many runs wait before it behind the same gate, counted up to a number
-- fence: none, a read
select run.limits, run.queue, queue.limits as queue_limits, namespace.limits as namespace_limits, before.count as position
from carillon.run
left join carillon.queue on queue.namespace_id = run.namespace_id and queue.name = run.queue
join carillon.namespace on namespace.id = run.namespace_id
cross join lateral (
  select count(*) from (
    select from carillon.run earlier
    where split_part(earlier.limits, E'\n', 1) = split_part(run.limits, E'\n', 1) and earlier.stage = 3 and earlier.limits is not null
      and case
        when run.limits like 'o:%' then (earlier.nominal_at, earlier.id) < (run.nominal_at, run.id)
        else (earlier.rank, earlier.id) < (run.rank, run.id)
      end
    limit :max_before
  ) as others
) as before
where run.namespace_id = :namespace_id and run.id = :run_id and run.stage = 3 and run.limits is not null;

-- name: limit.named
-- purpose: limits by name
-- fence: none, a read
select
  --+ limit.columns
from carillon.limit_key
join (
  select :namespace_id::int as named_namespace_id, unnest(:scopes::text[]) as named_scope, unnest(:kinds::text[]) as named_kind,
         unnest(:names::text[]) as named
) input
  on namespace_id = any (array[named_namespace_id]) and scope = named_scope and kind = named_kind and name = named;
