-- name: window.in_force
-- purpose: every maintenance window, with the revision that a fire compares; one row of nulls where there is none
-- params: none
-- fence: none: one statement, so that windows and revision belong together
select r.value as revision, w.namespace_id, n.name as namespace, w.name, w.definition
from carillon.revision r
left join carillon.maintenance_window w on true
left join carillon.namespace n on n.id = w.namespace_id
where r.name = 'windows'
order by w.namespace_id, w.id;

-- name: window.find
-- purpose: a maintenance window by name
-- params: $1 namespace id int, $2 name text
-- fence: none, a read
select name, definition, created_at, updated_at from carillon.maintenance_window where namespace_id = $1 and name = $2;

-- name: window.list
-- purpose: a keyset page of maintenance windows, by name
-- params: $1 namespace id int, $2 after name text or null, $3 limit int
-- fence: none, a read
select name, definition, created_at, updated_at
from carillon.maintenance_window
where namespace_id = $1 and ($2::text is null or name > $2)
order by name
limit $3;

-- name: window.put
-- purpose: stores a maintenance window, or replaces the one of that name
-- params: $1 namespace id int, $2 name text, $3 definition text
-- fence: unique (namespace_id, name); the revision grows in the same transaction
insert into carillon.maintenance_window as w (namespace_id, name, definition, created_at, updated_at)
values ($1, $2, $3::json, clock_timestamp(), clock_timestamp())
on conflict (namespace_id, name) do update set definition = excluded.definition, updated_at = excluded.updated_at
returning w.name, w.definition, w.created_at, w.updated_at, (w.xmax = 0) as created;

-- name: window.delete
-- purpose: forgets a maintenance window
-- params: $1 namespace id int, $2 name text
-- fence: the row's lock; the revision grows in the same transaction
delete from carillon.maintenance_window where namespace_id = $1 and name = $2 returning id;
