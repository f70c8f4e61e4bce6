-- name: revision.grow
-- purpose: tells nodes that something changed which they keep in memory
-- params: $1 names text[]
-- fence: the row's lock, in the order of the names; committed together with the change
with locked as materialized (
  select name from carillon.revision where name = any ($1::text[]) order by name for update
)
update carillon.revision r set value = r.value + 1 from locked where r.name = locked.name;
