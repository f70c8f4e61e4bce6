-- name: failure.list
-- purpose: a keyset page of the dead letters of some days, newest first: runs that failed, and of which nobody has disposed
-- params: $1 namespace id int, $2 before id uuid or null, $3 limit int, $4 task, $5 queue text or null, $6 job id uuid or null,
--         $7 fingerprint text or null, $8 failed from, $9 failed before timestamptz, $10 the last id that is wanted uuid or null
-- fence: none, a read; who acts on one inserts its row of redrive
select h.id, h.job_id, h.task, h.queue, h.priority, h.status, h.status_reason, h.trigger, h.nominal_at, h.run_at, h.created_at,
       h.started_at, h.finished_at, h.attempt, h.losses, h.fence, h.session_id, h.payload, h.policy, h.output, h.error, h.attempts,
       h.labels, h.owner, null::timestamptz as deadline_at
from carillon.run_history h
where h.namespace_id = $1 and h.status = 'failed' and h.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  and h.id >= coalesce($10::uuid, '00000000-0000-0000-0000-000000000000')
  and ($4::text is null or h.task = $4) and ($5::text is null or h.queue = $5) and ($6::uuid is null or h.job_id = $6)
  and ($7::text is null or h.fingerprint = $7)
  and h.finished_at >= $8 and h.finished_at < $9
  and (select r.number from carillon.redrive r where r.run_id = h.id and r.kind <> 'replay') is null
order by h.id desc
limit $3;

-- name: failure.redriven
-- purpose: what was done about runs, in order
-- params: $1 namespace id int, $2 ids uuid[]
-- fence: none, a read
select run_id, kind, new_run_id, actor, created_at
from (select * from carillon.redrive where namespace_id = $1 and run_id = any ($2::uuid[]) offset 0) r
order by number;

-- name: failure.redrive
-- purpose: notes that a run is made from one that ended; a retry only if there is none yet. One that was discarded may be retried
-- params: $1 run id uuid, $2 namespace id int, $3 kind text, $4 new run id uuid, $5 actor text or null
-- fence: unique (run_id) of what is no replay: of two retries one waits for the other and inserts nothing
insert into carillon.redrive as r (run_id, namespace_id, kind, new_run_id, actor, created_at)
values ($1, $2, $3, $4, $5, clock_timestamp())
on conflict (run_id) where kind <> 'replay' do update
set kind = excluded.kind, new_run_id = excluded.new_run_id, actor = excluded.actor, created_at = excluded.created_at
where r.kind = 'discard'
returning new_run_id;

-- name: failure.discard
-- purpose: disposes of dead letters without another try; those that were retried or discarded before stay as they are
-- params: $1 ids uuid[], $2 namespace id int, $3 actor text or null
-- fence: unique (run_id) of what is no replay
insert into carillon.redrive (run_id, namespace_id, kind, actor, created_at)
select i.id, $2, 'discard', $3, clock_timestamp() from unnest($1::uuid[]) as i (id) order by i.id
on conflict (run_id) where kind <> 'replay' do nothing
returning run_id;

-- name: failure.count
-- purpose: adds to the kinds of errors what a node has seen since the last time
-- params: $1 namespace ids int[], $2 fingerprints text[], $3 types text[], $4 messages text[], $5 tasks text[], $6 counts bigint[],
--         $7 first seen timestamptz[], $8 last seen timestamptz[], $9 runs uuid[]; one row for each (namespace, fingerprint, task)
-- fence: primary key, in its order; counts are added, so that nodes do not overwrite each other
with input as materialized (
  select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[],
                       $8::timestamptz[], $9::uuid[])
    as i (namespace_id, fingerprint, type, message, task, count, first_at, last_at, run_id)
)
insert into carillon.error_group as g (namespace_id, fingerprint, type, message, tasks, count, first_seen_at, last_seen_at,
                                       sample_run_id)
select namespace_id, fingerprint, min(type), min(message), array_agg(distinct task), sum(count), min(first_at), max(last_at),
       (array_agg(run_id order by last_at desc))[1]
from input
group by namespace_id, fingerprint
order by namespace_id, fingerprint
on conflict (namespace_id, fingerprint) do update
set count = g.count + excluded.count, last_seen_at = greatest(g.last_seen_at, excluded.last_seen_at),
    first_seen_at = least(g.first_seen_at, excluded.first_seen_at),
    tasks = (select array_agg(t.task) from (select distinct unnest(g.tasks || excluded.tasks) as task limit 100) t),
    sample_run_id = excluded.sample_run_id;

-- name: failure.groups
-- purpose: a page of the kinds of errors, the latest first
-- params: $1 namespace id int, $2 seen before timestamptz or null, $3 fingerprint at that time text or null, $4 limit int,
--         $5 task text or null
-- fence: none, a read
select fingerprint, type, message, tasks, count, first_seen_at, last_seen_at, sample_run_id
from carillon.error_group
where namespace_id = $1
  and (last_seen_at, fingerprint) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::text, ''))
  and ($5::text is null or $5 = any (tasks))
order by last_seen_at desc, fingerprint desc
limit $4;

-- name: failure.group
-- purpose: one kind of error
-- params: $1 namespace id int, $2 fingerprint text
-- fence: none, a read
select fingerprint, type, message, tasks, count, first_seen_at, last_seen_at, sample_run_id
from carillon.error_group
where namespace_id = $1 and fingerprint = $2;

-- name: failure.sweep_redrives
-- purpose: removes what was done about runs whose history is gone: it was done after they had ended
-- params: $1 before timestamptz, $2 limit int
-- fence: the time is compared on the row
delete from carillon.redrive
where number = any (array(
  select number from carillon.redrive where created_at < $1::timestamptz order by number limit $2
)) and created_at < $1::timestamptz;

-- name: failure.sweep_groups
-- purpose: removes kinds of errors that were not seen since
-- params: $1 before timestamptz, $2 limit int
-- fence: the time is compared on the row: one that is seen again meanwhile stays
delete from carillon.error_group
where (namespace_id, fingerprint) in (
  select namespace_id, fingerprint from carillon.error_group where last_seen_at < $1::timestamptz limit $2
) and last_seen_at < $1::timestamptz;
