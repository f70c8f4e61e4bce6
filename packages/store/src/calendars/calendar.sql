-- name: calendar.revision
-- purpose: whether any calendar changed since it was last read
-- params: none
-- fence: none, a read
select value as revision from carillon.revision where name = 'calendars';

-- name: calendar.in_force
-- purpose: every calendar, with the revision that belongs to them; the definition only of those that the caller does not have;
--          one row of nulls where there is none
-- params: $1 known ids int[], $2 known versions int[]
-- fence: none: one statement, so that calendars and revision belong together
select r.value as revision, c.id, c.namespace_id, c.name, c.version, case when k.id is null then c.definition end as definition
from carillon.revision r
left join carillon.calendar c on true
left join unnest($1::int[], $2::int[]) as k (id, version) on k.id = c.id and k.version = c.version
where r.name = 'calendars';

-- name: calendar.versions
-- purpose: definitions of calendars as of a version
-- params: $1 ids int[], $2 versions int[]
-- fence: none, a read
select w.id, w.version, case when c.version = w.version then c.definition else v.definition end as definition
from unnest($1::int[], $2::int[]) as w (id, version)
join carillon.calendar c on c.id = w.id
left join carillon.calendar_version v on v.calendar_id = w.id and v.version = w.version;

-- name: calendar.find
-- purpose: a calendar by name
-- params: $1 namespace id int, $2 name text
-- fence: none, a read
select version, definition, created_at, updated_at from carillon.calendar where namespace_id = $1 and name = $2;

-- name: calendar.list
-- purpose: a keyset page of calendars, by name
-- params: $1 namespace id int, $2 after name text or null, $3 limit int
-- fence: none, a read
select version, definition, created_at, updated_at
from carillon.calendar
where namespace_id = $1 and ($2::text is null or name > $2)
order by name
limit $3;

-- name: calendar.hold
-- purpose: takes a calendar for a change; waits for whoever changes it or makes a job that uses it
-- params: $1 namespace id int, $2 name text
-- fence: the row's lock
select id, version, definition, created_at, updated_at from carillon.calendar where namespace_id = $1 and name = $2 for update;

-- name: calendar.insert
-- purpose: stores a new calendar; answers nothing when somebody else was faster
-- params: $1 namespace id int, $2 name text, $3 definition text
-- fence: unique (namespace_id, name)
insert into carillon.calendar (namespace_id, name, definition, created_at, updated_at)
values ($1, $2, $3::json, clock_timestamp(), clock_timestamp())
on conflict do nothing
returning version, definition, created_at, updated_at;

-- name: calendar.keep_version
-- purpose: keeps the definition that is about to be replaced: jobs settle what was due under it
-- params: $1 id int
-- fence: primary key; the calendar's row is locked
insert into carillon.calendar_version (calendar_id, version, definition, valid_from, valid_to)
select id, version, definition, updated_at, clock_timestamp() from carillon.calendar where id = $1;

-- name: calendar.replace
-- purpose: makes a new version of a calendar
-- params: $1 id int, $2 expected version int, $3 definition text
-- fence: version; the calendar's row is locked
update carillon.calendar set version = version + 1, definition = $3::json, updated_at = clock_timestamp()
where id = $1 and version = $2
returning version, definition, created_at, updated_at;

-- name: calendar.users
-- purpose: some of the jobs that use a calendar and are not cancelled
-- params: $1 id int, $2 limit int
-- fence: none; sent with the calendar's row locked, whoever makes another waits for it
select j.id, j.key
from (select job_id from carillon.job_calendar where calendar_id = $1 offset 0) l
join carillon.job j on j.id = any (array[l.job_id])
where j.ended_at is null
order by l.job_id
limit $2;

-- name: calendar.delete
-- purpose: forgets a calendar with its versions and what ended jobs had to do with it
-- params: $1 id int
-- fence: the calendar's row is locked and nobody uses it
with links as (
  delete from carillon.job_calendar where calendar_id = $1
), versions as (
  delete from carillon.calendar_version where calendar_id = $1
)
delete from carillon.calendar where id = $1;

-- name: calendar.pin
-- purpose: keeps calendars from being deleted while jobs that use them are written; answers those that exist
-- params: $1 ids int[]
-- fence: a share lock
select id from carillon.calendar where id = any ($1::int[]) order by id for key share;

-- name: calendar.link
-- purpose: says which jobs follow a calendar, and with which version their next time was computed
-- params: $1 job ids uuid[], $2 calendar ids int[], $3 shards smallint[], $4 versions int[]
-- fence: primary key; the calendars are pinned
insert into carillon.job_calendar (job_id, calendar_id, shard, seen_version)
select * from unnest($1::uuid[], $2::int[], $3::smallint[], $4::int[])
on conflict (job_id, calendar_id) do update set seen_version = excluded.seen_version;

-- name: calendar.unlink
-- purpose: a job follows no calendar any more
-- params: $1 job ids uuid[]
-- fence: the row of job_due is locked
delete from carillon.job_calendar where job_id = any ($1::uuid[]);

-- name: calendar.behind
-- purpose: jobs of some shards whose next time was computed with an older version of a calendar
-- params: $1 shards smallint[], $2 limit int
-- fence: none, a read; what is done about them looks again under their lock
select distinct b.job_id
from (
  select l.job_id
  from carillon.calendar c
  join carillon.job_calendar l on l.calendar_id = any (array[c.id]) and l.seen_version < c.version
  where l.shard = any ($1::smallint[])
  offset 0
) b
limit $2;

-- name: calendar.behind_of
-- purpose: those of some jobs whose next time was computed with an older version of a calendar
-- params: $1 job ids uuid[]
-- fence: none, a read; whoever goes by it compares the revision of the windows, which grows with every new version, as of before it
select distinct i.job_id
from unnest($1::uuid[]) as i (job_id)
join carillon.job_calendar l on l.job_id = any (array[i.job_id])
join carillon.calendar c on c.id = any (array[l.calendar_id]) and l.seen_version < c.version;

-- name: calendar.of_jobs
-- purpose: the calendars of locked jobs: the version that each was computed with, and the present one
-- params: $1 job ids uuid[]
-- fence: none, a read; sent after the lock
select l.job_id, l.calendar_id, c.name, l.seen_version, c.version
from carillon.job_calendar l join carillon.calendar c on c.id = any (array[l.calendar_id])
where l.job_id = any ($1::uuid[]);

-- name: calendar.lock_jobs
-- purpose: takes jobs whose calendars changed; one that somebody else holds waits for the next look
-- params: $1 job ids uuid[]
-- fence: the row lock; what decides is read in a later statement
select job_id from carillon.job_due where job_id = any ($1::uuid[]) order by job_id for update skip locked;

-- name: calendar.see
-- purpose: the next time of these jobs is computed with this version
-- params: $1 job ids uuid[], $2 calendar ids int[], $3 versions int[]
-- fence: the row of job_due is locked
update carillon.job_calendar l set seen_version = i.version
from unnest($1::uuid[], $2::int[], $3::int[]) as i (job_id, calendar_id, version)
where l.job_id = any (array[i.job_id]) and (l.calendar_id = i.calendar_id) is true;
