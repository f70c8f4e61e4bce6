-- A one-off run whose job was changed before its time is made by that job, under the id that was told when it was asked for. Until
-- then it has no row of its own: it is a run to come.

-- Cancels runs to come, each with its job, and keeps them in history as if they had waited in a table. Rows are locked in the order of
-- ids; one that was made meanwhile is none any more.
create function carillon.cancel_to_come(within int, ids uuid[], reason text)
returns table (id uuid, namespace_id int, task text, queue text) language sql as $$
  with pick as materialized (
    select d.job_id, d.version, d.next_fire_at
    from carillon.job_due d
    where d.job_id = any (ids) and d.namespace_id = within and d.runs_made = 0 and d.state in ('active', 'paused')
    order by d.job_id
    for update of d
  ), ended as (
    update carillon.job j
    set version = j.version + 1, pause = null, ended_at = clock_timestamp(), updated_at = clock_timestamp()
    from pick p
    where j.id = p.job_id and j.schedule ->> 'kind' = 'at'
    returning j.*, p.version as version_before, to_timestamp((j.schedule ->> 'at')::float8 / 1000) as at, p.next_fire_at
  ), moved as (
    update carillon.job_due d
    set state = 'cancelled', state_reason = null, version = e.version, next_nominal_at = null, next_fire_at = null,
        catch_up_to = null, fired_through = e.at, fired_count = d.fired_count + 1, runs_made = 1, run_ids = array[d.job_id]
    from ended e
    where d.job_id = e.id
  ), kept as (
    insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
      trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, finished_at, version)
    select e.id, e.id, e.namespace_id, 'cancelled', reason, e.priority, coalesce(e.next_fire_at, e.at), e.at, e.created_at,
           'schedule', e.task, e.queue, e.payload, e.policy, nullif(e.labels, '{}'), e.owner, 0, 0, 0, clock_timestamp(),
           e.version_before
    from ended e
  )
  select e.id, e.namespace_id, e.task, e.queue from ended e
$$;

-- The function that plain SQL calls, with runs to come counted as live ones.
create or replace function carillon.enqueue(
  task text,
  payload json default null,
  queue text default 'default',
  priority int default 4,
  run_at timestamptz default null,
  delay interval default null,
  policy jsonb default null,
  labels jsonb default null,
  owner text default null,
  dedupe_key text default null,
  dedupe_on text default null,
  dedupe_window interval default null,
  notify boolean default false,
  namespace text default 'default',
  out run_id uuid,
  out is_new boolean
) language plpgsql as $$
#variable_conflict use_column
declare
  name_pattern constant text := '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$';
  moment constant timestamptz := clock_timestamp();
  due constant timestamptz := date_trunc('milliseconds', coalesce(enqueue.run_at, moment + enqueue.delay, moment));
  due_ms constant bigint := floor(extract(epoch from due) * 1000);
  is_deduped constant boolean := coalesce(enqueue.dedupe_key, enqueue.dedupe_on, enqueue.dedupe_window::text) is not null;
  deadline_in_ms constant bigint := enqueue.policy ->> 'deadlineMs';
  is_once constant boolean := coalesce(enqueue.policy ->> 'guarantee' = 'at_most_once', false);
  random_part constant text := replace(gen_random_uuid()::text, '-', '');
  namespace_number int;
  lane_number int;
  rank_number bigint;
  shard_number smallint;
  held uuid;
  held_counts boolean;
  is_won boolean;
begin
  if enqueue.task is null or enqueue.task !~ name_pattern then
    raise exception 'task % is not a name of letters, digits and _ . : / -', quote_nullable(enqueue.task) using errcode = '22023';
  elsif enqueue.queue is null or enqueue.queue !~ name_pattern then
    raise exception 'queue % is not a name of letters, digits and _ . : / -', quote_nullable(enqueue.queue) using errcode = '22023';
  elsif enqueue.priority is null or enqueue.priority not between 0 and 9 then
    raise exception 'priority % is not from 0 to 9', coalesce(enqueue.priority::text, 'null') using errcode = '22023';
  elsif enqueue.run_at is not null and enqueue.delay is not null then
    raise exception 'run_at and delay say the same; give one of them' using errcode = '22023';
  elsif due < moment - interval '24 hours' then
    raise exception 'run_at % lies more than a day in the past', due using errcode = '22023';
  elsif enqueue.policy is not null and jsonb_typeof(enqueue.policy) <> 'object' then
    raise exception 'policy must be a JSON object' using errcode = '22023';
  elsif enqueue.labels is not null and jsonb_typeof(enqueue.labels) <> 'object' then
    raise exception 'labels must be a JSON object of texts' using errcode = '22023';
  elsif enqueue.dedupe_on not in ('ignore', 'replace', 'reject') then
    raise exception 'dedupe_on % is not one of ignore, replace, reject', quote_literal(enqueue.dedupe_on) using errcode = '22023';
  elsif length(enqueue.dedupe_key) > 200 then
    raise exception 'dedupe_key is longer than 200 characters' using errcode = '22023';
  elsif enqueue.dedupe_window < interval '1 millisecond' then
    raise exception 'dedupe_window must be longer than nothing' using errcode = '22023';
  end if;

  perform carillon.check_policy(enqueue.policy);

  select n.id into namespace_number from carillon.namespace n where n.name = enqueue.namespace;
  if namespace_number is null then
    raise exception 'there is no namespace %', quote_nullable(enqueue.namespace) using errcode = '22023';
  end if;

  lane_number := carillon.gated_lane_of(carillon.lane_of(namespace_number, enqueue.queue, enqueue.task, is_once, enqueue.policy -> 'requires'), enqueue.policy);
  select carillon.rank_of(due_ms, enqueue.priority, q.order_kind, q.bound_ms, deadline_in_ms, t.expected_ms) into rank_number
  from carillon.queue q
  left join carillon.task_duration t
    on q.order_kind = 'sjf' and t.namespace_id = q.namespace_id and t.queue = q.name and t.task = enqueue.task
  where q.namespace_id = namespace_number and q.name = enqueue.queue;

  -- A UUIDv7: the time, the version, and the random part of a UUIDv4 with its variant.
  run_id := (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || '7' || substr(random_part, 14))::uuid;
  shard_number := (('x' || right(random_part, 6))::bit(24)::int % 1024)::smallint;
  is_new := true;

  if is_deduped then
    for round in 1 .. 100 loop
      select d.run_id,
             exists (select from carillon.run r where r.id = d.run_id)
               or exists (select from carillon.run_later f where f.namespace_id = d.namespace_id and f.id = d.run_id)
               or exists (
                 select from carillon.job_due w join carillon.job j on j.id = w.job_id
                 where w.job_id = d.run_id and w.runs_made = 0 and w.state in ('active', 'paused') and j.schedule ->> 'kind' = 'at'
               )
               or d.window_ms is not null and exists (
                 select from carillon.run_history e
                 where e.id = d.run_id and e.finished_at > statement_timestamp() - d.window_ms * interval '1 millisecond'
               )
      into held, held_counts
      from carillon.dedupe d
      where d.namespace_id = namespace_number and d.task = enqueue.task and d.key = coalesce(enqueue.dedupe_key, '');
      if held_counts and enqueue.dedupe_on = 'reject' then
        raise exception 'for the dedupe key % of % the run % counts', quote_literal(coalesce(enqueue.dedupe_key, '')), enqueue.task, held
          using errcode = '23505';
      elsif held_counts and enqueue.dedupe_on is distinct from 'replace' then
        run_id := held;
        is_new := false;
        return;
      end if;
      insert into carillon.dedupe as d (namespace_id, task, key, run_id, replaces, window_ms, created_at, look_at)
      values (namespace_number, enqueue.task, coalesce(enqueue.dedupe_key, ''), enqueue.run_id, held,
              floor(extract(epoch from enqueue.dedupe_window) * 1000), clock_timestamp(),
              greatest(due, clock_timestamp()) + interval '1 minute')
      on conflict (namespace_id, task, key) do update
      set run_id = excluded.run_id, replaces = excluded.replaces, window_ms = excluded.window_ms,
          created_at = excluded.created_at, look_at = excluded.look_at
      where d.run_id = excluded.replaces;
      is_won := found;
      exit when is_won;
    end loop;
    if not is_won then
      raise exception 'too many callers ask for runs with the dedupe key %', quote_literal(enqueue.dedupe_key) using errcode = '40001';
    end if;
    if held_counts then
      -- First where it may be moved from, then where it may be moved to.
      with ended as (
        delete from carillon.run_later f where f.namespace_id = namespace_number and f.id = held returning f.*
      )
      insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
        trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, finished_at)
      select e.id, e.id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.run_at, e.created_at, 'once',
             l.task, l.queue, e.payload, e.policy, e.labels, e.owner, 0, 0, 0, clock_timestamp()
      from ended e join carillon.lane l on l.id = e.lane;
      -- One whose job is just being changed is made by that job; one that its job just makes is in the hot table by the second pass.
      for pass in 1 .. 2 loop
        with ended as (
          delete from carillon.run r where r.id = held and r.state <> 'running' returning r.*
        )
        insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
          trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at,
          attempts, version)
        select e.id, e.job_id, e.namespace_id, 'cancelled', 'cancelled_by_dedupe', e.priority, e.run_at, e.nominal_at, e.created_at,
               e.trigger, e.task, e.queue, e.payload, e.policy, e.labels, e.owner, e.attempt, e.losses, e.fence, e.session_id,
               e.started_at, clock_timestamp(), e.attempts, e.version
        from ended e;
        exit when found;
        perform from carillon.cancel_to_come(namespace_number, array[held], 'cancelled_by_dedupe');
        exit when found;
      end loop;
    end if;
  end if;

  if due > moment + interval '630 seconds' then
    insert into carillon.run_later (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload, policy, labels, owner,
                                    deadline_at)
    values (enqueue.run_id, due, moment, rank_number, namespace_number, lane_number, shard_number, enqueue.priority,
            coalesce(enqueue.payload, 'null'), nullif(enqueue.policy, '{}')::json, nullif(enqueue.labels, '{}'), enqueue.owner,
            due + deadline_in_ms * interval '1 millisecond');
  else
    insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                              trigger, task, queue, payload, policy, labels, owner, deadline_at)
    values (enqueue.run_id, enqueue.run_id, namespace_number, shard_number, lane_number,
            case when due <= moment then 'queued' else 'scheduled' end, enqueue.priority, rank_number, due, due, moment, 'once',
            enqueue.task, enqueue.queue, coalesce(enqueue.payload, 'null'), nullif(enqueue.policy, '{}')::json,
            nullif(enqueue.labels, '{}'), enqueue.owner, due + deadline_in_ms * interval '1 millisecond');
    -- Delivered with the commit. Who fires looks further ahead than a short delay only every 15 s, so that is always told.
    if due > moment and due <= moment + interval '30 seconds' then
      perform pg_notify('carillon_hint', 'shards ' || shard_number);
    elsif enqueue.notify and due <= moment then
      perform pg_notify('carillon_hint', format('lanes %s:%s', lane_number, rank_number));
    end if;
  end if;
end
$$;
