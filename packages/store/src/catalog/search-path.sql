-- name: search_path.declare
-- purpose: notes by which paths of payloads runs and jobs of a namespace can be found
-- params: $1 namespace id int, $2 paths text[]
-- fence: primary key (namespace_id, path)
insert into carillon.search_path (namespace_id, path)
select $1, p.path from unnest($2::text[]) as p (path) order by p.path
on conflict do nothing;

-- name: search_path.list
-- purpose: the paths by which runs and jobs of a namespace can be found
-- params: $1 namespace id int
-- fence: none, a read
select path from carillon.search_path where namespace_id = $1 order by path;
