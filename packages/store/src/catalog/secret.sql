-- name: secret.find
-- purpose: a secret that all nodes share
-- params: $1 name text
-- fence: none, a read; it never changes
select encode(value, 'base64') as value from carillon.secret where name = $1;
