-- name: calendar.revision
-- purpose: reads the revision of all calendars: a node reads them again when it has grown
-- fence: none, a read
select value as revision from carillon.revision where name = 'calendars';

-- name: calendar.list_in_force
-- purpose: reads every calendar, with the revision that belongs to them and the definitions that the caller does not have. If there is
--   no calendar, it returns one row of nulls with the revision
-- fence: none: one statement, so calendars and revision belong together
select revision.value as revision, calendar.id, calendar.namespace_id, calendar.name, calendar.version,
       case when known.id is null then calendar.definition end as definition
from carillon.revision
left join carillon.calendar on true
left join unnest(:known_ids::int[], :known_versions::int[]) as known (id, version)
  on known.id = calendar.id and known.version = calendar.version
where revision.name = 'calendars';

-- name: calendar.list_versions
-- purpose: reads definitions of calendars as of a version
-- fence: none, a read
select wanted.id, wanted.version,
       case when calendar.version = wanted.version then calendar.definition else past.definition end as definition
from unnest(:ids::int[], :versions::int[]) as wanted (id, version)
join carillon.calendar on calendar.id = wanted.id
left join carillon.calendar_version as past on past.calendar_id = wanted.id and past.version = wanted.version;

-- name: calendar.find
-- purpose: reads a calendar by name
-- fence: none, a read
select version, definition, created_at, updated_at from carillon.calendar where namespace_id = :namespace_id and name = :name;

-- name: calendar.list
-- purpose: reads a keyset page of calendars, by name
-- fence: none, a read
select version, definition, created_at, updated_at
from carillon.calendar
where namespace_id = :namespace_id and (:after_name::text is null or name > :after_name)
order by name
limit :limit;

-- name: calendar.lock
-- purpose: locks a calendar for a change; waits for a transaction that changes it or inserts a job that uses it
-- fence: the row lock
select id, version, definition, created_at, updated_at
from carillon.calendar
where namespace_id = :namespace_id and name = :name
for update;

-- name: calendar.insert
-- purpose: stores a new calendar; no row if another transaction stored one of that name first
-- fence: unique (namespace_id, name)
insert into carillon.calendar (namespace_id, name, definition, created_at, updated_at)
values (:namespace_id, :name, :definition::json, clock_timestamp(), clock_timestamp())
on conflict do nothing
returning version, definition, created_at, updated_at;

-- name: calendar.keep_version
-- purpose: keeps the definition that the same transaction replaces: jobs process the occurrences that were due under it
-- fence: primary key; the transaction has the calendar's row locked
insert into carillon.calendar_version (calendar_id, version, definition, valid_from, valid_to)
select id, version, definition, updated_at, clock_timestamp() from carillon.calendar where id = :id;

-- name: calendar.replace
-- purpose: writes a new version of a calendar
-- fence: version; the transaction has the calendar's row locked
update carillon.calendar set version = version + 1, definition = :definition::json, updated_at = clock_timestamp()
where id = :id and version = :expected_version
returning version, definition, created_at, updated_at;

-- name: calendar.list_users
-- purpose: reads some of the jobs that use a calendar and are not cancelled
-- fence: none, a read; sent with the calendar's row locked, for which a transaction that inserts another user waits
select job.id, job.key
from (select job_id from carillon.job_calendar where calendar_id = :id offset 0) as link
join carillon.job on job.id = any (array[link.job_id])
where job.ended_at is null
order by link.job_id
limit :limit;

-- name: calendar.delete
-- purpose: deletes a calendar with its versions and its links to ended jobs
-- fence: the transaction has the calendar's row locked and found no user
with links as (
  delete from carillon.job_calendar where calendar_id = :id
), versions as (
  delete from carillon.calendar_version where calendar_id = :id
)
delete from carillon.calendar where id = :id;

-- name: calendar.pin
-- purpose: prevents the deletion of calendars while jobs that use them are written; returns those that exist
-- fence: a share lock
select id from carillon.calendar where id = any (:ids::int[]) order by id for key share;

-- name: calendar.link
-- purpose: stores which jobs follow a calendar, and with which version their next time was computed
-- fence: primary key; the calendars are pinned
insert into carillon.job_calendar (job_id, calendar_id, shard, seen_version)
select * from unnest(:job_ids::uuid[], :calendar_ids::int[], :shards::smallint[], :versions::int[])
on conflict (job_id, calendar_id) do update set seen_version = excluded.seen_version;

-- name: calendar.unlink
-- purpose: deletes the links of jobs that follow no calendar any more
-- fence: the transaction has the rows of job_due locked
delete from carillon.job_calendar where job_id = any (:job_ids::uuid[]);

-- name: calendar.list_outdated_jobs
-- purpose: the owner of some shards reads jobs whose next time was computed with an older version of a calendar
-- fence: none, a read; the caller locks the jobs and reads again
select distinct job_id
from (
  select link.job_id
  from carillon.calendar
  join carillon.job_calendar as link on link.calendar_id = any (array[calendar.id]) and link.seen_version < calendar.version
  where link.shard = any (:shards::smallint[])
  offset 0
) as outdated
limit :limit;

-- name: calendar.filter_outdated_jobs
-- purpose: reads which of some jobs have a next time that was computed with an older version of a calendar
-- fence: none, a read; a write that depends on it compares the revision of the windows as of before: it grows with every new version
select distinct requested.job_id
from unnest(:job_ids::uuid[]) as requested (job_id)
join carillon.job_calendar as link on link.job_id = any (array[requested.job_id])
join carillon.calendar on calendar.id = any (array[link.calendar_id]) and link.seen_version < calendar.version;

-- name: calendar.list_of_jobs
-- purpose: reads the calendars of locked jobs: the version with which each next time was computed, and the present one
-- fence: none, a read; sent after the lock
select link.job_id, link.calendar_id, calendar.name, link.seen_version, calendar.version
from carillon.job_calendar as link join carillon.calendar on calendar.id = any (array[link.calendar_id])
where link.job_id = any (:job_ids::uuid[]);

-- name: calendar.save_seen_versions
-- purpose: records that the next times of these jobs are computed with these versions
-- fence: the transaction has the rows of job_due locked
update carillon.job_calendar as link set seen_version = seen.version
from unnest(:job_ids::uuid[], :calendar_ids::int[], :versions::int[]) as seen (job_id, calendar_id, version)
where link.job_id = any (array[seen.job_id]) and (link.calendar_id = seen.calendar_id) is true;
