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
-- purpose: a keyset page of finished runs among the first so many that one index gives in the list's order: the rest of the filter
--   is looked up in those. The last that was looked at is among the answers, with how many before it were of the namespace. A line with
--   a tag counts where its tag is chosen. Sent without a name, so that it is planned for its values
-- params: $1 namespace id int, $2 after id uuid or null, $3 limit int, $4 statuses text[] or null, $5 task, $6 queue text or
--         null, $7 job id uuid or null, $8 session uuid or null, $9 owner text or null, $10 one-off jobs only boolean,
--         $11 created from, $12 created before timestamptz or null, $13 kind of trigger text or null, $14 labels jsonb or null,
--         $15 other conditions on labels jsonb or null, $16 ended from, $17 ended before timestamptz, $18 tasks to look under text[],
--         $19 how many to look through int, $20 none before this id uuid
-- fence: none, a read
select h.id, h.job_id, h.task, h.queue, h.priority, h.status, h.status_reason, h.trigger, h.nominal_at, h.run_at, h.created_at,
       h.started_at, h.finished_at, h.attempt, h.losses, h.fence, h.session_id, h.payload, h.policy, h.output, h.error, h.attempts,
       h.labels, h.owner, null::timestamptz as deadline_at, h.is_match, h.place = $19 as is_last, h.own::int as own
from unnest($18::text[]) as under (task)
cross join lateral (
  select *
  from (
    select looked.*, coalesce(
      namespace_id = $1
      and ($4::text[] is null or status = any ($4)) and ($5::text is null or task = $5) and ($6::text is null or queue = $6)
      and ($7::uuid is null or job_id = $7) and ($8::uuid is null or session_id = $8) and ($9::text is null or owner = $9)
      and (not $10::boolean or job_id = id)
      and ($11::timestamptz is null or created_at >= $11) and ($12::timestamptz is null or created_at < $12)
      and ($13::text is null or split_part(trigger, ':', 1) = $13)
      and ($14::jsonb is null or labels @> $14::jsonb)
      and ($15::jsonb is null or not exists (
        select from jsonb_to_recordset($15::jsonb) as c (key text, is_in boolean, among jsonb)
        where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                              else coalesce(c.among ? (labels ->> c.key), false) end
      )), false) as is_match
    from (
      select numbered.*, row_number() over in_order as place, count(*) filter (where namespace_id = $1) over in_order as own
      from (
        select * from carillon.run_history --? any task owner failed unrun asked labels
        select * from ( --? job
          select * from carillon.run_history where job_id = $7 and job_id <> id --? job
          union all --? job
          select * from carillon.run_history where job_id = $7 and id = $7 --? job
        ) of_job --? job
        where finished_at >= $16::timestamptz and finished_at < $17::timestamptz
          and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and id >= $20::uuid --? newest_first
          and id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000') and id >= $20::uuid --? oldest_first
          and namespace_id = $1 --? task owner job failed unrun asked labels
          and task = under.task --? task
          and owner = $9 --? owner
          and status = 'failed' --? failed
          and status in ('cancelled', 'skipped') --? unrun
          and split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay') --? asked
          and labels @> $14::jsonb --? labels
        order by id desc --? newest_first
        order by id --? oldest_first
        limit $19
      ) numbered
      window in_order as (order by id desc) --? newest_first
      window in_order as (order by id) --? oldest_first
    ) looked
  ) judged
  where is_match or place = $19
  order by id desc --? newest_first
  order by id --? oldest_first
  limit $3
) h
order by is_last desc, h.id desc --? newest_first
order by is_last desc, h.id --? oldest_first
limit $3 + cardinality($18);

-- name: history.under
-- purpose: the rows of some days that one index gives for a filter. Only explained: the planner's estimate says by which index to look
-- params: $1 namespace id int, $2 job id uuid or null, $3 owner text or null, $4 labels jsonb or null, $5 ended from, $6 ended before
--         timestamptz, $7 tasks text[]
-- fence: none, a read
select $2::uuid, $3::text, $4::jsonb, $7::text[]
from carillon.run_history
where finished_at >= $5::timestamptz and finished_at < $6::timestamptz
  and task = any ($7::text[]) --? task
  and owner = $3 --? owner
  and job_id = $2 and job_id <> id --? job
  and status = 'failed' --? failed
  and status in ('cancelled', 'skipped') --? unrun
  and split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay') --? asked
  and labels @> $4::jsonb --? labels
  and namespace_id = $1;

-- name: history.matches
-- purpose: the finished runs of a filter, up to a number: counted, or explained for an estimate
-- params: $1 namespace id int, $2 statuses text[] or null, $3 task, $4 queue text or null, $5 job id uuid or null, $6 session uuid
--         or null, $7 owner text or null, $8 one-off jobs only boolean, $9 created from, $10 created before timestamptz or null,
--         $11 kind of trigger text or null, $12 labels jsonb or null, $13 other conditions on labels jsonb or null,
--         $14 not ended before timestamptz or null, $15 how many at most int or null
-- fence: none, a read
select id
from carillon.run_history
where namespace_id = $1 and finished_at >= coalesce($14::timestamptz, '-infinity')
  and ($2::text[] is null or status = any ($2)) and ($3::text is null or task = $3) and ($4::text is null or queue = $4)
  and ($5::uuid is null or job_id = $5 and job_id <> id or job_id = $5 and id = $5) and ($6::uuid is null or session_id = $6) and ($7::text is null or owner = $7)
  and (not $8::boolean or trigger = 'once')
  and ($9::timestamptz is null or created_at >= $9) and ($10::timestamptz is null or created_at < $10)
  and ($11::text is null or split_part(trigger, ':', 1) = $11)
  and ($12::jsonb is null or labels @> $12::jsonb)
  and ($13::jsonb is null or not exists (
    select from jsonb_to_recordset($13::jsonb) as c (key text, is_in boolean, among jsonb)
    where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                          else coalesce(c.among ? (labels ->> c.key), false) end
  ))
limit $15;

-- name: history.tasks
-- purpose: the tasks of a namespace that have finished runs, up to a number: one step in the index for each
-- params: $1 namespace id int, $2 how many at most int, $3 not ended before timestamptz or null
-- fence: none, a read
with recursive found as (
  select min(task) as task, 1 as number from carillon.run_history
  where namespace_id = $1 and finished_at >= coalesce($3::timestamptz, '-infinity')
  union all
  select (
    select min(h.task) from carillon.run_history h
    where h.namespace_id = $1 and h.task > f.task and h.finished_at >= coalesce($3::timestamptz, '-infinity')
  ), f.number + 1
  from found f
  where f.task is not null and f.number < $2
)
select task from found where task is not null;

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
