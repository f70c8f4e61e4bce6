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
