-- name: secret.find
-- purpose: a secret that all nodes share
-- fence: none, a read; it never changes
select encode(value, 'base64') as value from carillon.secret where name = :name;
