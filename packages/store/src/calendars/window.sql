-- name: window.list_in_force
-- purpose: reads every maintenance window, with the revision that a fire compares. If there is no window, it returns one row of nulls
--   with the revision
-- fence: none: one statement, so windows and revision belong together
select revision.value as revision, maintenance.namespace_id, namespace.name as namespace, maintenance.name, maintenance.definition
from carillon.revision
left join carillon.maintenance_window as maintenance on true
left join carillon.namespace on namespace.id = maintenance.namespace_id
where revision.name = 'windows'
order by maintenance.namespace_id, maintenance.id;

-- name: window.find
-- purpose: reads a maintenance window by name
-- fence: none, a read
select name, definition, created_at, updated_at
from carillon.maintenance_window
where namespace_id = :namespace_id and name = :name;

-- name: window.list
-- purpose: reads a keyset page of maintenance windows, by name
-- fence: none, a read
select name, definition, created_at, updated_at
from carillon.maintenance_window
where namespace_id = :namespace_id and (:after_name::text is null or name > :after_name)
order by name
limit :limit;

-- name: window.put
-- purpose: stores a maintenance window, or replaces the one of that name
-- fence: unique (namespace_id, name); the revision grows in the same transaction
insert into carillon.maintenance_window as stored (namespace_id, name, definition, created_at, updated_at)
values (:namespace_id, :name, :definition::json, clock_timestamp(), clock_timestamp())
on conflict (namespace_id, name) do update set definition = excluded.definition, updated_at = excluded.updated_at
returning stored.name, stored.definition, stored.created_at, stored.updated_at, (stored.xmax = 0) as created;

-- name: window.delete
-- purpose: deletes a maintenance window
-- fence: the row lock; the revision grows in the same transaction
delete from carillon.maintenance_window where namespace_id = :namespace_id and name = :name returning id;
