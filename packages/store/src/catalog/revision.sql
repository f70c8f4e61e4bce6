-- name: revision.increment
-- purpose: notifies nodes that something changed which they cache
-- fence: the row's lock, in the order of the names; committed together with the change
with locked as materialized (
  select name from carillon.revision where name = any (:names::text[]) order by name for update
)
update carillon.revision set value = revision.value + 1 from locked where revision.name = locked.name;
