-- name: history.find
-- purpose: finished runs by id, among those that ended within some days
-- params: $1 namespace id int, $2 ids uuid[], $3 ended from, $4 ended before timestamptz
-- fence: none, a read
select id, job_id, task, queue, priority, status, status_reason, trigger, nominal_at, run_at, created_at, started_at,
       finished_at, attempt, losses, fence, session_id, payload, policy, output, error, attempts, labels, owner,
       null::timestamptz as deadline_at
from carillon.run_history
where namespace_id = $1 and id = any ($2::uuid[]) and finished_at >= $3 and finished_at < $4;

-- name: history.list
-- purpose: a keyset page of the runs that ended within some days, among the first so many that one index gives in the list's order: the
--   rest of the filter is looked up in those. Numbered, the last that was looked at is among the answers; to number many rows costs
--   several times what it costs to read them, so that plain is for where there are many. Gathered, no index finds them by
--   their ids. A line with a tag counts where its tag is chosen. Sent without a name, so that it is planned for its values
-- params: $1 namespace id int, $2 statuses, $3 task, $4 queue, $5 job id, $6 session, $7 owner, $8 one-off jobs only, $9 created from, $10 created
--         before, $11 kind of trigger, $12 labels, $13 other conditions on labels, as run.conditions has them,
--         $14 after id uuid or null, $15 limit int, $16 ended from, $17 ended before timestamptz, $18 tasks to look under text[],
--         $19 how many to look through int, $20 the last id that is wanted uuid or null
-- fence: none, a read
select h.id, h.job_id, h.task, h.queue, h.priority, h.status, h.status_reason, h.trigger, h.nominal_at, h.run_at, h.created_at,
       h.started_at, h.finished_at, h.attempt, h.losses, h.fence, h.session_id, h.payload, h.policy, h.output, h.error, h.attempts,
       h.labels, h.owner, null::timestamptz as deadline_at, h.is_match, h.place = $19 as is_last
from unnest($18::text[]) as under (task)
cross join lateral (
  select *
  from (
    select looked.*, coalesce(
      namespace_id = $1 and (not $8::boolean or job_id = id) and
      --+ run.conditions
      , false) as is_match
    from (
      select numbered.*, row_number() over in_order as place --? numbered
      select numbered.*, 0 as place --? plain
      from (
        select * from carillon.run_history --? any namespace task owner failed unrun asked labels
        select * from ( --? job
          select * from carillon.run_history where job_id = $5 and job_id <> id --? job
          union all --? job
          select * from carillon.run_history where job_id = $5 and id = $5 --? job
        ) of_job --? job
        where finished_at >= $16::timestamptz and finished_at < $17::timestamptz
          and id < coalesce($14::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first_by_id
          and id >= coalesce($20::uuid, '00000000-0000-0000-0000-000000000000') --? newest_first_by_id
          and id > coalesce($14::uuid, '00000000-0000-0000-0000-000000000000') --? oldest_first_by_id
          and id <= coalesce($20::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? oldest_first_by_id
          and coalesce(id < $14::uuid, true) and coalesce(id >= $20::uuid, true) --? newest_first_gathered
          and coalesce(id > $14::uuid, true) and coalesce(id <= $20::uuid, true) --? oldest_first_gathered
          and namespace_id = $1 --? namespace task owner job failed unrun asked labels
          and task = under.task --? task
          and owner = $7 --? owner
          and status = 'failed' --? failed
          and status in ('cancelled', 'skipped') --? unrun
          and split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay') --? asked
          and labels @> $12::jsonb --? labels
        order by id desc --? newest_first
        order by id --? oldest_first
        limit $19
      ) numbered
      window in_order as (order by id desc rows unbounded preceding) --? newest_first_numbered
      window in_order as (order by id rows unbounded preceding) --? oldest_first_numbered
    ) looked
  ) judged
  where is_match or place = $19
  order by id desc --? newest_first
  order by id --? oldest_first
  limit $15
) h
order by is_last desc, h.id desc --? newest_first
order by is_last desc, h.id --? oldest_first
limit $15 + cardinality($18);

-- name: history.edge
-- purpose: where history.list stopped looking among all rows; nothing if it saw the end
-- params: $1 after id uuid or null, $2 ended from, $3 ended before timestamptz, $4 how many were looked through int
-- fence: none, a read
select id from carillon.run_history
where finished_at >= $2::timestamptz and finished_at < $3::timestamptz
  and id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
  and id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') --? oldest_first
order by id desc --? newest_first
order by id --? oldest_first
offset $4::int - 1
limit 1;

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
  and namespace_id = $1 --? namespace task owner job failed unrun asked labels
  and $1::int is not null;

-- name: history.matches
-- purpose: the runs of a filter that ended within some days, up to a number: counted, or explained for an estimate
-- params: $1 namespace id int, $2 statuses, $3 task, $4 queue, $5 job id, $6 session, $7 owner, $8 one-off jobs only, $9 created from, $10 created
--         before, $11 kind of trigger, $12 labels, $13 other conditions on labels, as run.conditions has them,
--         $14 ended from, $15 ended before timestamptz, $16 how many at most int or null
-- fence: none, a read
select id
from carillon.run_history
where namespace_id = $1 and finished_at >= $14::timestamptz and finished_at < $15::timestamptz and (not $8::boolean or trigger = 'once') and
  --+ run.conditions
limit $16;

-- name: history.last_success
-- purpose: the newest run of a job that succeeded, among those that ended within some days
-- params: $1 namespace id int, $2 job id uuid, $3 limit int, $4 ended from, $5 ended before timestamptz, $6 the last id that is wanted
--         uuid or null
-- fence: none, a read
select id, finished_at as at, output::text as value
from (
  select * from carillon.run_history where job_id = $2 and job_id <> id
  union all
  select * from carillon.run_history where job_id = $2 and id = $2
) of_job
where namespace_id = $1 and status = 'succeeded' and finished_at >= $4::timestamptz and finished_at < $5::timestamptz
  and id >= coalesce($6::uuid, '00000000-0000-0000-0000-000000000000')
order by id desc
limit $3;

-- name: history.ends_of_job
-- purpose: how the newest runs of a job went, of those that ended within some days
-- params: $1 namespace id int, $2 job id uuid, $3 limit int, $4 ended from, $5 ended before timestamptz, $6 the last id that is wanted
--         uuid or null
-- fence: none, a read
select id, status, attempt, finished_at as at, (extract(epoch from finished_at - started_at) * 1000)::float8 as duration_ms,
       greatest(extract(epoch from started_at - run_at) * 1000, 0)::float8 as lag_ms
from (
  select * from carillon.run_history where job_id = $2 and job_id <> id
  union all
  select * from carillon.run_history where job_id = $2 and id = $2
) of_job
where namespace_id = $1 and finished_at >= $4::timestamptz and finished_at < $5::timestamptz
  and id >= coalesce($6::uuid, '00000000-0000-0000-0000-000000000000')
order by id desc
limit $3;

-- name: history.first_ids
-- purpose: the lowest id among the runs that ended on each of some days; a day without any is not among the answers
-- params: $1 beginnings of the days timestamptz[], $2 the first of them, $3 the end of the last timestamptz
-- fence: none, a read
select d.day, f.id
from unnest($1::timestamptz[]) as d (day)
cross join lateral (
  select h.id
  from carillon.run_history h
  where h.finished_at >= $2::timestamptz and h.finished_at < $3::timestamptz
    and h.finished_at >= d.day and h.finished_at < d.day + interval '24 hours'
  order by h.id
  limit 1
) f;

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
