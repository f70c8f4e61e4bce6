-- name: namespace.find
-- purpose: a namespace by name
-- fence: none, a read
select id, name from carillon.namespace where name = :name;

-- name: namespace.lock
-- purpose: locks a namespace for a change of its limits; admissions under way end first
-- fence: the row's lock. Taken before the row is written, so that a transaction that waits for it reads the row as it is then
select id from carillon.namespace where id = :id for update;

-- name: namespace.list
-- purpose: every namespace with its weight; gateways share slots among namespaces by it
-- fence: none, a read
select id, name, weight, version from carillon.namespace order by id;

-- name: namespace.read_for_change
-- purpose: a namespace by name, for a change of it
-- fence: the row's lock, under which no other change of it begins; admissions continue
select id, name, weight, limits, version, created_at, updated_at from carillon.namespace where name = :name for no key update;

-- name: namespace.page
-- purpose: a keyset page of namespaces, by name
-- fence: none, a read
select name, weight, limits, version, created_at, updated_at
from carillon.namespace
where (:after::text is null or name > :after) and (:only::text is null or name = :only)
order by name
limit :limit;

-- name: namespace.create
-- purpose: creates a namespace; returns nothing if the name is taken
-- fence: unique name
insert into carillon.namespace (name, weight) values (:name, :weight)
on conflict (name) do nothing
returning id, name, weight, limits, version, created_at, updated_at;

-- name: namespace.change
-- purpose: changes a namespace; what is null stays. Returns nothing if there is none, or if it has another version
-- fence: the row's lock, and its version if the caller names one
update carillon.namespace
set weight = coalesce(:weight, weight),
    limits = nullif((coalesce(limits::jsonb, '{}') || :limits::jsonb) - :removed_limits::text[], '{}')::json,
    version = version + 1, updated_at = clock_timestamp()
where name = :name and (:if_version::int is null or version = :if_version)
returning name, weight, limits, version, created_at, updated_at;
