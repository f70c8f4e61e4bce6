-- name: callback_secret.signing
-- purpose: the secrets that sign the callbacks of a namespace
-- fence: none, a read
select secret, case when old_secret_until > clock_timestamp() then old_secret end as old_secret
from carillon.callback_secret where namespace_id = :namespace_id;

-- name: callback_secret.create
-- purpose: creates the secret of a namespace that has none
-- fence: primary key: of several nodes that create it at once, one succeeds
insert into carillon.callback_secret (namespace_id, secret) values (:namespace_id, :secret) on conflict do nothing;

-- name: callback_secret.find
-- purpose: when a namespace got its secret, and until when the previous one signs too
-- fence: none, a read
select made_at, case when old_secret_until > clock_timestamp() then old_secret_until end as old_secret_until
from carillon.callback_secret where namespace_id = :namespace_id;

-- name: callback_secret.rotate
-- purpose: stores a new secret; the previous one signs for some time more
-- fence: primary key, and the row's lock
insert into carillon.callback_secret (namespace_id, secret) values (:namespace_id, :secret)
on conflict (namespace_id) do update
set old_secret = case when :overlap_ms::bigint > 0 then callback_secret.secret end,
    old_secret_until = case when :overlap_ms > 0 then clock_timestamp() + :overlap_ms * interval '1 millisecond' end,
    secret = excluded.secret, made_at = clock_timestamp()
returning callback_secret.made_at, callback_secret.old_secret_until;
