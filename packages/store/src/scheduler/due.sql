-- name: due.load
-- purpose: the jobs of the given shards that are due before an instant, for the wheel, soonest first within a class. Those that differ in
--   nothing but id and shard come in one row, with the definition of the first: in a herd most do, and to read a row and a definition for
--   each costs more than to fire it
-- params: $1 shards smallint[], $2 until timestamptz, $3 limit per shard and class int
-- fence: none: what is loaded is only a hint, the fire compares again
select g.*, j.namespace_id, j.schedule::text, j.firing::text, j.priority, j.task, j.queue, j.labels::text, j.deadline_ms
from (
  select string_agg(d.job_id::text || d.shard, ',') as jobs, d.class, d.state, d.version, d.next_nominal_at, d.next_fire_at, d.runs_made,
         d.catch_up_to, greatest(d.fired_through, d.defined_at) as settled_to
  from unnest($1::smallint[]) as s (id)
  cross join generate_series(0, 2) as c (class)
  cross join lateral (
    select job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at, runs_made, catch_up_to, fired_through,
           defined_at, definition
    from carillon.job_due
    where shard = s.id and class = c.class and next_fire_at is not null and next_fire_at < $2
    order by next_fire_at
    limit $3
  ) d
  group by 2, 3, 4, 5, 6, 7, 8, 9, d.namespace_id, d.definition, case when d.definition is null then d.job_id end
) g
join carillon.job j on j.id = any (array[left(g.jobs, 36)::uuid])
order by g.class, g.next_fire_at;

-- name: due.fire
-- purpose: turns due occurrences into runs and moves each job to its next time, in one step; one whose job has a live run and
--          lets none overlap becomes an entry of the ledger. Only for jobs with overlap allow or skip. Answers the jobs that have the
--          same outcome and lane in one row: the caller knows the rest, and a row for each would cost more than it says
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 revision of the maintenance windows bigint,
--         $5 whether to look for a run of the same id boolean: without it such a run is an error, and nothing is done;
--         what is the same for some jobs is said once: $6 first, $7 last of these among the jobs int[], $8 versions int[],
--         $9 nominals timestamptz[], $10 runs made bigint[], $11 next nominals timestamptz[], $12 next fires timestamptz[],
--         $13 catch up to timestamptz[], $14 ranks bigint[]; of each job: $15 ids uuid[], $16 run ids uuid[];
--         what else goes to the ledger with them: $17 job ids uuid[], $18 namespace ids int[], $19 versions int[],
--         $20 reasons text[], $21 from timestamptz[], $22 to timestamptz[], $23 counts bigint[], $24 details text[]
-- fence: (shard, owner, epoch) under a share lock; (version, next_nominal_at, fired_through) compared on the locked row, and
--        runs_made where a live run decides: runs are read as of the statement's start, a later one has moved the row. Who
--        makes a run under such an id locks that row, so that a conflict of ids is an error and not a case
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), input as materialized (
  select unnest(($15::uuid[])[g.first : g.last]) as job_id, unnest(($16::uuid[])[g.first : g.last]) as run_id, g.*
  from unnest(
    $6::int[], $7::int[], $8::int[], $9::timestamptz[], $10::bigint[], $11::timestamptz[], $12::timestamptz[],
    $13::timestamptz[], $14::bigint[]
  ) as g (first, last, version, nominal_at, runs_made, next_nominal_at, next_fire_at, catch_up_to, rank)
  order by 1
), pick as materialized (
  select i.*, d.*
  from input i cross join lateral (
    select d.namespace_id, d.overlap, d.run_ids, d.ledger_from, d.ledger_reason, d.next_fire_at as fire_at,
           d.max_runs is not null and d.fired_count + 1 >= d.max_runs as is_last
    from carillon.job_due d
    where d.job_id = i.job_id and (d.shard in (select id from fence)) is true
      and d.state = 'active' and d.version = i.version and d.next_nominal_at = i.nominal_at
      and (d.fired_through is null or i.nominal_at > d.fired_through)
      and coalesce(d.next_fire_at, 'infinity') <= clock_timestamp()
      and (d.overlap = 'allow' or d.overlap = 'skip' and d.runs_made = i.runs_made)
      and (select r.value from carillon.revision r where r.name = 'windows') = $4
    for update of d skip locked
  ) d
), judged as materialized (
  select p.*, j.shard, j.lane, j.priority, j.task, j.queue, j.payload, j.policy, nullif(j.labels, '{}') as labels, j.owner,
         j.deadline_ms, j.has_downstream, clock_timestamp() as made_at,
         case when not $5 and (p.overlap = 'allow' or p.run_ids = '{}') then 'fired' else coalesce((
           select case r.id when p.run_id then 'duplicate' else 'overlap' end
           from carillon.run r
           where r.id = any (case when not $5 then p.run_ids when p.overlap = 'skip' then p.run_ids || p.run_id else array[p.run_id] end)
           limit 1
         ), 'fired') end as outcome
  from pick p join carillon.job j on j.id = any (array[p.job_id])
), made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner, version, untracked, deadline_at, has_downstream)
  select p.run_id, p.job_id, p.namespace_id, p.shard, p.lane, 'queued', p.priority, p.rank, p.fire_at, p.nominal_at,
         p.made_at, 'schedule', p.task, p.queue, p.payload, p.policy, p.labels, p.owner, p.version, p.overlap = 'allow',
         p.nominal_at + p.deadline_ms * interval '1 millisecond', p.has_downstream
  from judged p
  where p.outcome = 'fired'
), moved as (
  update carillon.job_due d
  set fired_through = p.nominal_at,
      fired_count = d.fired_count + (p.outcome = 'fired')::int,
      runs_made = d.runs_made + (p.outcome = 'fired')::int,
      run_ids = case p.outcome when 'overlap' then d.run_ids else array[p.run_id] end,
      next_nominal_at = case when p.outcome <> 'fired' or not p.is_last then p.next_nominal_at end,
      next_fire_at = case when p.outcome <> 'fired' or not p.is_last then p.next_fire_at end,
      state = case when p.outcome = 'fired' and p.is_last or p.next_nominal_at is null then 'completed' else d.state end,
      state_reason = null,
      ledger_reason = nullif(p.outcome, 'fired'),
      ledger_from = case p.outcome when 'fired' then null when p.ledger_reason then p.ledger_from else p.nominal_at end,
      catch_up_to = coalesce(p.catch_up_to, d.catch_up_to)
  from judged p
  where d.job_id = any (array[p.job_id])
), noted as (
  insert into carillon.occurrence as o (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
  select p.job_id, p.namespace_id, p.version, p.outcome,
         case p.outcome when p.ledger_reason then p.ledger_from else p.nominal_at end, p.nominal_at, 1, null, p.made_at
  from judged p
  where p.outcome <> 'fired'
  union all
  select n.*, clock_timestamp()
  from unnest(
    $17::uuid[], $18::int[], $19::int[], $20::text[], $21::timestamptz[], $22::timestamptz[], $23::bigint[], $24::text[]
  ) as n (job_id, namespace_id, version, reason, from_at, to_at, count, detail)
  where (n.job_id in (select job_id from pick)) is true
  on conflict (job_id, version, reason, from_at) do update
  set to_at = greatest(o.to_at, excluded.to_at), count = o.count + excluded.count, recorded_at = excluded.recorded_at
)
select string_agg(job_id::text, ',') as job_ids, outcome, outcome = 'fired' and is_last as is_last, lane, max(made_at) as created_at
from judged
group by outcome, outcome = 'fired' and is_last, lane;

-- name: due.pass
-- purpose: passes over occurrences that are not fired, with the ledger's range extended while the reason repeats
-- params: $1, $2, $3, $4 as due.fire, $5 when it was decided by the caller's clock timestamptz or null, $6 job ids uuid[], $7 versions int[], $8 expected nominals timestamptz[], $9 next
--         nominals timestamptz[], $10 next fires timestamptz[], $11 catch up to timestamptz[], $12 last passed nominals
--         timestamptz[], $13 counts bigint[], $14 reasons text[], $15 details text[]; what else goes to the ledger with them:
--         $16 job ids uuid[], $17 namespace ids int[], $18 versions int[], $19 reasons text[], $20 from timestamptz[],
--         $21 to timestamptz[], $22 counts bigint[], $23 details text[]
-- fence: as due.fire, without runs_made: no run is made; and the clock, which must not be behind the caller's: a node that is
--        ahead takes for missed what is due now
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), input as materialized (
  select * from unnest(
    $6::uuid[], $7::int[], $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[],
    $13::bigint[], $14::text[], $15::text[]
  ) as i (job_id, version, nominal_at, next_nominal_at, next_fire_at, catch_up_to, through_at, count, reason, detail)
  order by job_id
), pick as materialized (
  select i.*, d.*
  from input i cross join lateral (
    select d.namespace_id, case when d.ledger_reason = i.reason then d.ledger_from else i.nominal_at end as from_at
    from carillon.job_due d
    where d.job_id = i.job_id and (d.shard in (select id from fence)) is true
      and d.state = 'active' and d.version = i.version and d.next_nominal_at = i.nominal_at
      and (d.fired_through is null or i.nominal_at > d.fired_through)
      and coalesce(d.next_fire_at, 'infinity') <= clock_timestamp() and ($5::timestamptz is null or $5 <= clock_timestamp() + interval '1 second')
      and (select r.value from carillon.revision r where r.name = 'windows') = $4
    for update of d skip locked
  ) d
), moved as (
  update carillon.job_due d
  set fired_through = p.through_at,
      next_nominal_at = p.next_nominal_at,
      next_fire_at = p.next_fire_at,
      state = case when p.next_nominal_at is null then 'completed' else d.state end,
      state_reason = null,
      ledger_reason = p.reason,
      ledger_from = p.from_at,
      catch_up_to = coalesce(p.catch_up_to, d.catch_up_to)
  from pick p
  where d.job_id = any (array[p.job_id])
), noted as (
  insert into carillon.occurrence as o (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
  select p.job_id, p.namespace_id, p.version, p.reason, p.from_at, p.through_at, p.count, p.detail, clock_timestamp()
  from pick p
  union all
  select n.*, clock_timestamp()
  from unnest(
    $16::uuid[], $17::int[], $18::int[], $19::text[], $20::timestamptz[], $21::timestamptz[], $22::bigint[], $23::text[]
  ) as n (job_id, namespace_id, version, reason, from_at, to_at, count, detail)
  where (n.job_id in (select job_id from pick)) is true
  on conflict (job_id, version, reason, from_at) do update
  set to_at = greatest(o.to_at, excluded.to_at), count = o.count + excluded.count, recorded_at = excluded.recorded_at,
      detail = case when o.detail = excluded.detail then o.detail end
)
select job_id from pick;

-- name: due.hold
-- purpose: lets due occurrences wait for the end of a maintenance window
-- params: $1, $2, $3, $4, $5 as due.pass, $6 job ids uuid[], $7 versions int[], $8 nominals timestamptz[], $9 until timestamptz[]
-- fence: as due.pass
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), input as materialized (
  select * from unnest($6::uuid[], $7::int[], $8::timestamptz[], $9::timestamptz[]) as i (job_id, version, nominal_at, until_at)
  order by job_id
), pick as materialized (
  select d.job_id, i.until_at
  from input i cross join lateral (
    select d.job_id
    from carillon.job_due d
    where d.job_id = i.job_id and (d.shard in (select id from fence)) is true
      and d.state = 'active' and d.version = i.version and d.next_nominal_at = i.nominal_at
      and (d.fired_through is null or i.nominal_at > d.fired_through)
      and coalesce(d.next_fire_at, 'infinity') <= clock_timestamp() and ($5::timestamptz is null or $5 <= clock_timestamp() + interval '1 second')
      and (select r.value from carillon.revision r where r.name = 'windows') = $4
    for update of d skip locked
  ) d
)
update carillon.job_due d
set next_fire_at = p.until_at, state_reason = 'held ' || $4
from pick p
where d.job_id = any (array[p.job_id])
returning d.job_id;

-- name: due.release
-- purpose: makes due again what is held under other maintenance windows than the present ones: the next fire decides anew
-- params: $1, $2, $3, $4 as due.fire
-- fence: (shard, owner, epoch) under a share lock; nothing fires by it
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), pick as materialized (
  select d.job_id
  from fence f join carillon.job_due d on d.shard = f.id
  where d.state_reason like 'held %' and d.state_reason <> 'held ' || $4 and d.state = 'active'
  order by d.shard, d.job_id
  for update of d skip locked
)
update carillon.job_due d
set next_fire_at = greatest(d.next_nominal_at, least(d.next_fire_at, clock_timestamp())), state_reason = null
from pick p
where d.job_id = any (array[p.job_id])
returning d.shard;

-- name: due.park
-- purpose: stops jobs that cannot be fired, so that the others can: paused, with what went wrong as the reason
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 job ids uuid[], $5 versions int[], $6 pauses text[]
-- fence: (shard, owner, epoch) under a share lock; (state, version) compared on the locked row
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), pick as materialized (
  select d.job_id, i.pause
  from carillon.job_due d join unnest($4::uuid[], $5::int[], $6::text[]) as i (job_id, version, pause) on d.job_id = any (array[i.job_id])
  where d.shard = any (array(select id from fence)) and d.state = 'active' and d.version = i.version
  order by i.job_id
  for update of d skip locked
), moved as (
  update carillon.job_due d
  set state = 'paused', version = d.version + 1, next_nominal_at = null, next_fire_at = null, state_reason = null,
      ledger_from = null, ledger_reason = null
  from pick p
  where d.job_id = any (array[p.job_id])
)
update carillon.job j
set version = j.version + 1, pause = p.pause::json, updated_at = clock_timestamp()
from pick p
where j.id = any (array[p.job_id])
returning j.id as job_id;
