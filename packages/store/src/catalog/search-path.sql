-- name: search_path.declare
-- purpose: records payload paths by which runs and jobs of a namespace can be found
-- fence: primary key (namespace_id, path)
insert into carillon.search_path (namespace_id, path)
select :namespace_id, input.path from unnest(:paths::text[]) as input (path) order by input.path
on conflict do nothing;

-- name: search_path.list
-- purpose: the payload paths by which runs and jobs of a namespace can be found
-- fence: none, a read
select path from carillon.search_path where namespace_id = :namespace_id order by path;
