-- name: namespace.find
-- purpose: the number behind a namespace's name
-- params: $1 name text
-- fence: none
select id, name from carillon.namespace where name = $1;

-- name: namespace.list
-- purpose: every namespace, for the gateway's turn-taking
-- params: none
-- fence: none
select id, name from carillon.namespace order by id;
