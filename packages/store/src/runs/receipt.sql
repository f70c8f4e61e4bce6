-- Idempotency keys: calls that a caller may repeat without having their effect twice.

-- name: idempotency.begin
-- purpose: takes a key for a call: a new one, one that has expired, or one whose call had no effect and was abandoned
-- fence: primary key; a take-over compares that nothing was recorded under the key, and the token keeps the earlier call from
--   recording anything later
insert into carillon.idempotency_key (namespace_id, caller, key, request, token, begun_at, expires_at)
values (:namespace_id, :caller, :key, :request, :token, clock_timestamp(), clock_timestamp() + :kept_ms::bigint * interval '1 millisecond')
on conflict (namespace_id, caller, key) do update
set request = excluded.request, token = excluded.token, begun_at = excluded.begun_at, expires_at = excluded.expires_at,
    effect = null, answer = null
where idempotency_key.expires_at <= clock_timestamp()
   or idempotency_key.effect is null and idempotency_key.answer is null and idempotency_key.request = excluded.request
      and idempotency_key.begun_at <= clock_timestamp() - :abandoned_ms::bigint * interval '1 millisecond'
returning token;

-- name: idempotency.find
-- purpose: the recorded effect and answer of a key
-- fence: none, a read
select request, effect, answer from carillon.idempotency_key where namespace_id = :namespace_id and caller = :caller and key = :key;

-- name: idempotency.record_effect
-- purpose: records the effect of a call, in the transaction that has the effect
-- fence: the token of the call that holds the key, and no effect recorded before; the caller checks the row count
update carillon.idempotency_key
set effect = :effect::json
where namespace_id = :namespace_id and caller = :caller and key = :key and token = :token and effect is null and answer is null;

-- name: idempotency.record_answer
-- purpose: stores the answer of a call, for its repetitions
-- fence: the token of the call that holds the key
update carillon.idempotency_key
set answer = :answer::json
where namespace_id = :namespace_id and caller = :caller and key = :key and token = :token;

-- name: idempotency.release
-- purpose: gives back the key of a call that was refused; a key with a recorded effect stays
-- fence: the token of the call that holds the key, and no effect recorded
delete from carillon.idempotency_key
where namespace_id = :namespace_id and caller = :caller and key = :key and token = :token and effect is null and answer is null;

-- name: idempotency.sweep
-- purpose: deletes keys that have expired
-- fence: the time on the locked row; a row that another transaction holds is left for the next pass
delete from carillon.idempotency_key
where ctid = any (array(
  select ctid from carillon.idempotency_key where expires_at <= statement_timestamp() order by expires_at limit :limit
  for update skip locked
));
