-- name: history.find
-- purpose: finished runs by id; none ended before the first of the ids was made, which prunes the older days
-- params: $1 namespace id int, $2 ids uuid[], $3 not ended before timestamptz
-- fence: none, a read
select id, job_id, task, queue, priority, status, status_reason, trigger, nominal_at, run_at, created_at, started_at,
       finished_at, attempt, losses, fence, session_id, payload, policy, output, error, attempts, labels, owner,
       null::timestamptz as deadline_at
from carillon.run_history
where namespace_id = $1 and id = any ($2::uuid[]) and finished_at >= $3;

-- name: history.list
-- purpose: a keyset page of finished runs, newest first, among the newest so many: what no index serves is bounded by that
-- params: $1 namespace id int, $2 before id uuid or null, $3 limit int, $4 statuses text[] or null, $5 task, $6 queue text or
--         null, $7 job id uuid or null, $8 session uuid or null, $9 owner text or null, $10 one-off jobs only boolean,
--         $11 created from, $12 created before timestamptz or null, $13 kind of trigger text or null, $14 labels jsonb or null,
--         $15 other conditions on labels jsonb or null, $16 how many to look through int
-- fence: none, a read
select id, job_id, task, queue, priority, status, status_reason, trigger, nominal_at, run_at, created_at, started_at,
       finished_at, attempt, losses, fence, session_id, payload, policy, output, error, attempts, labels, owner,
       null::timestamptz as deadline_at
from (
  select * from carillon.run_history
  where namespace_id = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    and finished_at >= coalesce($11::timestamptz, '-infinity')
  order by id desc
  limit $16
) h
where ($4::text[] is null or status = any ($4)) and ($5::text is null or task = $5) and ($6::text is null or queue = $6)
    and ($7::uuid is null or job_id = $7) and ($8::uuid is null or session_id = $8) and ($9::text is null or owner = $9)
    and (not $10::boolean or job_id = id)
    and ($12::timestamptz is null or created_at < $12) and ($11::timestamptz is null or created_at >= $11)
    and ($13::text is null or split_part(trigger, ':', 1) = $13)
    and ($14::jsonb is null or labels @> $14::jsonb)
    and ($15::jsonb is null or not exists (
      select from jsonb_to_recordset($15::jsonb) as c (key text, is_in boolean, among jsonb)
      where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                            else coalesce(c.among ? (labels ->> c.key), false) end
    ))
order by id desc
limit $3;

-- name: history.search
-- purpose: as history.list, among all: for filters that an index serves. Sent without a name, so that it is planned for its values
-- params: $1 namespace id int, $2 before id uuid or null, $3 limit int, $4 statuses text[] or null, $5 task, $6 queue text or
--         null, $7 job id uuid or null, $8 session uuid or null, $9 owner text or null, $10 one-off jobs only boolean,
--         $11 created from, $12 created before timestamptz or null, $13 kind of trigger text or null, $14 labels jsonb or null,
--         $15 other conditions on labels jsonb or null
-- fence: none, a read
select id, job_id, task, queue, priority, status, status_reason, trigger, nominal_at, run_at, created_at, started_at,
       finished_at, attempt, losses, fence, session_id, payload, policy, output, error, attempts, labels, owner,
       null::timestamptz as deadline_at
from carillon.run_history
where namespace_id = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    and finished_at >= coalesce($11::timestamptz, '-infinity')
    and ($4::text[] is null or status = any ($4)) and ($5::text is null or task = $5) and ($6::text is null or queue = $6)
    and ($7::uuid is null or job_id = $7) and ($8::uuid is null or session_id = $8) and ($9::text is null or owner = $9)
    and (not $10::boolean or job_id = id)
    and ($12::timestamptz is null or created_at < $12) and ($11::timestamptz is null or created_at >= $11)
    and ($13::text is null or split_part(trigger, ':', 1) = $13)
    and ($14::jsonb is null or labels @> $14::jsonb)
    and ($15::jsonb is null or not exists (
      select from jsonb_to_recordset($15::jsonb) as c (key text, is_in boolean, among jsonb)
      where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                            else coalesce(c.among ? (labels ->> c.key), false) end
    ))
order by id desc
limit $3;

-- name: history.edge
-- purpose: where history.list stopped looking; nothing if it saw the end
-- params: $1 namespace id int, $2 before id uuid or null, $3 created from timestamptz or null, $4 how many were looked through int
-- fence: none, a read
select id from carillon.run_history
where namespace_id = $1 and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  and finished_at >= coalesce($3::timestamptz, '-infinity')
order by id desc
offset $4::int - 1
limit 1;

-- name: history.partitions
-- purpose: the days of a table that have a partition
-- params: $1 schema text, $2 table text
-- fence: none, a read
select c.relname as name
from pg_catalog.pg_inherits i
join pg_catalog.pg_class c on c.oid = i.inhrelid
join pg_catalog.pg_class p on p.oid = i.inhparent
join pg_catalog.pg_namespace n on n.oid = p.relnamespace
where p.relname = $2 and n.nspname = $1
order by c.relname;

-- name: history.past_days
-- purpose: the days of a table before a day, attached or not: one that was detached and not dropped is still in the way
-- params: $1 schema text, $2 table text, $3 first day that stays, as the end of a partition's name
-- fence: none, a read
select c.relname as name, i.inhrelid is not null as attached, coalesce(i.inhdetachpending, false) as detaching
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join pg_catalog.pg_inherits i on i.inhrelid = c.oid
where n.nspname = $1 and c.relkind = 'r' and c.relname ~ ('^' || $2 || '_[0-9]{8}$') and c.relname < $2 || '_' || $3
order by c.relname;

-- name: history.take_turn
-- purpose: lets one node at a time make days of history; held to the end of the transaction
-- params: $1 schema text
-- fence: an advisory lock; only an economy, the name of the table is unique
select pg_advisory_xact_lock(hashtextextended('carillon.history_days.' || $1, 0));
