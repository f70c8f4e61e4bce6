-- name: namespace.find
-- purpose: the number behind a namespace's name
-- params: $1 name text
-- fence: none
select id, name from carillon.namespace where name = $1;

-- name: namespace.lock
-- purpose: takes a namespace for a change of its limits; admissions that are under way end first
-- params: $1 id int
-- fence: the row's lock. Taken before the row is written: who waits for it reads the row as it is then
select id from carillon.namespace where id = $1 for update;

-- name: namespace.list
-- purpose: every namespace with its weight, for the gateway's turn-taking
-- params: none
-- fence: none
select id, name, weight, version from carillon.namespace order by id;

-- name: namespace.limits
-- purpose: the limits of a namespace, for a change of it
-- params: $1 name text
-- fence: the row's lock, under which no other change of it begins; admissions go on
select id, version, limits from carillon.namespace where name = $1 for no key update;

-- name: namespace.page
-- purpose: a keyset page of namespaces, by name
-- params: $1 after name text or null, $2 limit int, $3 only this one text or null
-- fence: none, a read
select name, weight, limits, version, created_at, updated_at
from carillon.namespace
where ($1::text is null or name > $1) and ($3::text is null or name = $3)
order by name
limit $2;

-- name: namespace.create
-- purpose: makes a namespace; answers nothing if the name is taken
-- params: $1 name text, $2 weight int
-- fence: unique name
insert into carillon.namespace (name, weight) values ($1, $2)
on conflict (name) do nothing
returning id, name, weight, limits, version, created_at, updated_at;

-- name: namespace.change
-- purpose: changes a namespace; what is null stays. Answers nothing if there is none, or if it has another version
-- params: $1 name text, $2 version as expected int or null, $3 weight int or null, $4 limits that are set jsonb, $5 limits that are
--         taken away text[]
-- fence: the row's lock, and its version if the caller names one
update carillon.namespace
set weight = coalesce($3, weight), limits = nullif((coalesce(limits::jsonb, '{}') || $4::jsonb) - $5::text[], '{}')::json,
    version = version + 1, updated_at = clock_timestamp()
where name = $1 and ($2::int is null or version = $2)
returning name, weight, limits, version, created_at, updated_at;
