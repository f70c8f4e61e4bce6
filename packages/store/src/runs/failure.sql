-- name: failure.list
-- purpose: a keyset page of the dead letters of some days, newest first: runs that failed and were neither retried nor discarded
-- fence: none, a read; retrying or discarding one inserts its row of redrive
select
  --+ history.columns
from carillon.run_history history
where namespace_id = :namespace_id and status = 'failed'
  and id < coalesce(:before::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  and id >= coalesce(:until::uuid, '00000000-0000-0000-0000-000000000000')
  and (:task::text is null or task = :task) and (:queue::text is null or queue = :queue)
  and (:job_id::uuid is null or job_id = :job_id) and (:fingerprint::text is null or fingerprint = :fingerprint)
  and finished_at >= :failed_from and finished_at < :failed_before
  and (select redrive.number from carillon.redrive where redrive.run_id = history.id and redrive.kind <> 'replay') is null
order by id desc
limit :limit;

-- name: failure.redriven
-- purpose: the retries, replays and discards of runs, in order
-- fence: none, a read
select run_id, kind, new_run_id, actor, created_at
from (select * from carillon.redrive where namespace_id = :namespace_id and run_id = any (:run_ids::uuid[]) offset 0) redriven
order by number;

-- name: failure.redrive
-- purpose: records that a run is made from one that ended; a retry only if there is none yet. A discarded run may be retried
-- fence: unique (run_id) of rows that are no replay: of two retries one waits for the other and inserts nothing
insert into carillon.redrive (run_id, namespace_id, kind, new_run_id, actor, created_at)
values (:run_id, :namespace_id, :kind, :new_run_id, :actor, clock_timestamp())
on conflict (run_id) where kind <> 'replay' do update
set kind = excluded.kind, new_run_id = excluded.new_run_id, actor = excluded.actor, created_at = excluded.created_at
where redrive.kind = 'discard'
returning new_run_id;

-- name: failure.discard
-- purpose: discards dead letters; those that were retried or discarded before stay as they are
-- fence: unique (run_id) of rows that are no replay
insert into carillon.redrive (run_id, namespace_id, kind, actor, created_at)
select input.id, :namespace_id, 'discard', :actor, clock_timestamp() from unnest(:run_ids::uuid[]) as input (id) order by input.id
on conflict (run_id) where kind <> 'replay' do nothing
returning run_id;

-- name: failure.count
-- purpose: adds the errors that a node has seen since its last report to their groups: one row for each (namespace, fingerprint,
--   task)
-- fence: primary key, in its order; counts are added, so that nodes do not overwrite each other
with input as materialized (
  select * from unnest(:namespace_ids::int[], :fingerprints::text[], :types::text[], :messages::text[], :tasks::text[], :counts::bigint[],
                       :first_times::timestamptz[], :last_times::timestamptz[], :run_ids::uuid[])
    as input (namespace_id, fingerprint, type, message, task, count, first_at, last_at, run_id)
)
insert into carillon.error_group (namespace_id, fingerprint, type, message, tasks, count, first_seen_at, last_seen_at,
                                  sample_run_id)
select namespace_id, fingerprint, min(type), min(message), array_agg(distinct task), sum(count), min(first_at), max(last_at),
       (array_agg(run_id order by last_at desc))[1]
from input
group by namespace_id, fingerprint
order by namespace_id, fingerprint
on conflict (namespace_id, fingerprint) do update
set count = error_group.count + excluded.count, last_seen_at = greatest(error_group.last_seen_at, excluded.last_seen_at),
    first_seen_at = least(error_group.first_seen_at, excluded.first_seen_at),
    tasks = (select array_agg(named.task) from (select distinct unnest(error_group.tasks || excluded.tasks) as task limit 100) named),
    sample_run_id = excluded.sample_run_id;

-- name: failure.groups
-- purpose: a page of error groups, the latest first
-- fence: none, a read
select fingerprint, type, message, tasks, count, first_seen_at, last_seen_at, sample_run_id
from carillon.error_group
where namespace_id = :namespace_id
  and (last_seen_at, fingerprint) < (coalesce(:seen_before::timestamptz, 'infinity'), coalesce(:before_fingerprint::text, ''))
  and (:task::text is null or :task = any (tasks))
order by last_seen_at desc, fingerprint desc
limit :limit;

-- name: failure.group
-- purpose: one error group
-- fence: none, a read
select fingerprint, type, message, tasks, count, first_seen_at, last_seen_at, sample_run_id
from carillon.error_group
where namespace_id = :namespace_id and fingerprint = :fingerprint;

-- name: failure.sweep_redrives
-- purpose: deletes the redrives of runs whose history is gone: they were made after the runs had ended
-- fence: the time is compared on the row
delete from carillon.redrive
where number = any (array(
  select number from carillon.redrive where created_at < :before::timestamptz order by number limit :limit
)) and created_at < :before::timestamptz;

-- name: failure.sweep_groups
-- purpose: deletes error groups that were not seen since
-- fence: the time is compared on the row: a group that is seen again meanwhile stays
delete from carillon.error_group
where (namespace_id, fingerprint) in (
  select namespace_id, fingerprint from carillon.error_group where last_seen_at < :before::timestamptz limit :limit
) and last_seen_at < :before::timestamptz;
