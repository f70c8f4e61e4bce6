-- Calls that a caller may repeat without doing twice what they ask for.

-- name: idempotency.begin
-- purpose: takes a key for a call: a new one, one that has expired, or one whose call left nothing behind and was given up
-- params: $1 namespace id int, $2 caller text, $3 key text, $4 request text, $5 token uuid, $6 kept for ms bigint,
--         $7 given up after ms bigint
-- fence: primary key; a take-over compares that nothing was done under the key, and who worked on it cannot note it any more
insert into carillon.idempotency_key as k (namespace_id, caller, key, request, token, begun_at, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + $6::bigint * interval '1 millisecond')
on conflict (namespace_id, caller, key) do update
set request = excluded.request, token = excluded.token, begun_at = excluded.begun_at, expires_at = excluded.expires_at,
    effect = null, answer = null
where k.expires_at <= clock_timestamp()
   or k.effect is null and k.answer is null and k.request = excluded.request
      and k.begun_at <= clock_timestamp() - $7::bigint * interval '1 millisecond'
returning token;

-- name: idempotency.find
-- purpose: what is known of a key
-- params: $1 namespace id int, $2 caller text, $3 key text
-- fence: none, a read
select request, effect, answer from carillon.idempotency_key where namespace_id = $1 and caller = $2 and key = $3;

-- name: idempotency.note
-- purpose: says what a call does, in the transaction that does it
-- params: $1 namespace id int, $2 caller text, $3 key text, $4 token uuid, $5 effect text
-- fence: the token of whoever works on the key, and nothing noted before; the row count is checked
update carillon.idempotency_key
set effect = $5::json
where namespace_id = $1 and caller = $2 and key = $3 and token = $4 and effect is null and answer is null;

-- name: idempotency.answer
-- purpose: keeps the answer of a call for those who repeat it
-- params: $1 namespace id int, $2 caller text, $3 key text, $4 token uuid, $5 answer text
-- fence: the token of whoever works on the key
update carillon.idempotency_key
set answer = $5::json
where namespace_id = $1 and caller = $2 and key = $3 and token = $4;

-- name: idempotency.forget
-- purpose: gives back the key of a call that was refused; one whose effect is there stays
-- params: $1 namespace id int, $2 caller text, $3 key text, $4 token uuid
-- fence: the token of whoever works on the key, and nothing noted
delete from carillon.idempotency_key
where namespace_id = $1 and caller = $2 and key = $3 and token = $4 and effect is null and answer is null;

-- name: idempotency.sweep
-- purpose: removes keys that have expired
-- params: $1 limit int
-- fence: the time on the locked row; what somebody holds is left for the next pass
delete from carillon.idempotency_key
where ctid = any (array(
  select ctid from carillon.idempotency_key where expires_at <= statement_timestamp() order by expires_at limit $1
  for update skip locked
));
