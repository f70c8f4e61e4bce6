-- name: callback_secret.signing
-- purpose: the secrets that sign callbacks of a namespace
-- params: $1 namespace id int
-- fence: none, a read
select secret, case when old_secret_until > clock_timestamp() then old_secret end as old_secret
from carillon.callback_secret where namespace_id = $1;

-- name: callback_secret.make
-- purpose: makes the secret of a namespace that has none
-- params: $1 namespace id int, $2 secret text
-- fence: primary key: of several that come together one counts
insert into carillon.callback_secret (namespace_id, secret) values ($1, $2) on conflict do nothing;

-- name: callback_secret.find
-- purpose: since when a namespace has its secret, and until when the one before signs as well
-- params: $1 namespace id int
-- fence: none, a read
select made_at, case when old_secret_until > clock_timestamp() then old_secret_until end as old_secret_until
from carillon.callback_secret where namespace_id = $1;

-- name: callback_secret.rotate
-- purpose: a new secret; the one before goes on for a time
-- params: $1 namespace id int, $2 secret text, $3 how long the old one goes on ms bigint
-- fence: primary key, and the row's lock
insert into carillon.callback_secret as s (namespace_id, secret) values ($1, $2)
on conflict (namespace_id) do update
set old_secret = case when $3::bigint > 0 then s.secret end,
    old_secret_until = case when $3 > 0 then clock_timestamp() + $3 * interval '1 millisecond' end,
    secret = excluded.secret, made_at = clock_timestamp()
returning s.made_at, s.old_secret_until;
