-- What the wheel needs to know of a job is read from job_due alone, and from one job of those that are defined alike.

-- Jobs with the same key are defined alike, as far as the wheel needs it: the columns are those that due.load reads.
create function carillon.definition_key(
  namespace_id int, schedule json, firing json, priority smallint, task text, queue text, labels jsonb, deadline_ms bigint
) returns uuid language sql stable parallel safe as $$
  select encode(substr(sha256(convert_to(
    json_build_array(namespace_id, schedule, firing, priority, task, queue, labels, deadline_ms)::text, 'UTF8'
  )), 1, 16), 'hex')::uuid
$$;

-- defined_at: since when its definition is in force. definition: its key; null: like no other.
alter table carillon.job_due
  add column defined_at timestamptz not null default now(),
  add column definition uuid;
update carillon.job_due d
set defined_at = coalesce(j.defined_at, j.created_at),
    definition = carillon.definition_key(j.namespace_id, j.schedule, j.firing, j.priority, j.task, j.queue, j.labels, j.deadline_ms)
from carillon.job j
where j.id = d.job_id;

-- Whatever redefines a job, a node of an older version as well, leaves no old key behind.
create function carillon.note_redefined() returns trigger language plpgsql as $$
begin
  update carillon.job_due
  set defined_at = coalesce(new.defined_at, new.created_at),
      definition = carillon.definition_key(
        new.namespace_id, new.schedule, new.firing, new.priority, new.task, new.queue, new.labels, new.deadline_ms
      )
  where job_id = new.id;
  return null;
end
$$;
create trigger job_redefined
  after update of schedule, firing, priority, task, queue, labels, policy, created_at, defined_at on carillon.job
  for each row execute function carillon.note_redefined();
