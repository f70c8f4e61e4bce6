-- What a worker says of itself: runs that require labels are handed only to workers that have them.
alter table carillon.worker_session add column labels jsonb not null default '{}'::jsonb;

-- The same for a run that plain SQL asks for: what it requires is part of its lane.
drop function carillon.lane_of(int, text, text, boolean);
create function carillon.lane_of(namespace_number int, queue_name text, task_name text, is_once boolean, wanted_labels jsonb) returns int
language plpgsql as $$
declare
  is_strict boolean;
  lane_kind text;
  lane_number int;
  requirement constant text := coalesce(
    (select string_agg(r.key || '=' || r.value, E'\n' order by r.key collate "C") from jsonb_each_text(wanted_labels) r), ''
  );
begin
  select q.order_kind = 'strict' into is_strict from carillon.queue q
  where q.namespace_id = namespace_number and q.name = queue_name;
  if is_strict is null then
    insert into carillon.queue (namespace_id, name) values (namespace_number, queue_name)
    on conflict (namespace_id, name) do nothing;
    select q.order_kind = 'strict' into is_strict from carillon.queue q
    where q.namespace_id = namespace_number and q.name = queue_name;
  end if;
  lane_kind := case when is_strict and is_once then 'strict_once' when is_strict then 'strict' when is_once then 'solo' else 'plain' end;
  select l.id into lane_number from carillon.lane l
  where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  if lane_number is null then
    insert into carillon.lane (queue, task, kind, requires)
    select queue_name, task_name, k.kind, requirement
    from (values ('lost'), ('plain'), ('solo'), ('strict'), ('strict_once')) as k (kind)
    where k.kind = lane_kind or not is_strict and k.kind in ('lost', 'plain', 'solo')
    on conflict (queue, task, kind, requires) do nothing;
    select l.id into lane_number from carillon.lane l
    where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  end if;
  return lane_number;
end
$$;

-- The function that plain SQL calls, with the lane chosen as above.
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

  select n.id into namespace_number from carillon.namespace n where n.name = enqueue.namespace;
  if namespace_number is null then
    raise exception 'there is no namespace %', quote_nullable(enqueue.namespace) using errcode = '22023';
  end if;

  lane_number := carillon.lane_of(namespace_number, enqueue.queue, enqueue.task, is_once, enqueue.policy -> 'requires');
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
