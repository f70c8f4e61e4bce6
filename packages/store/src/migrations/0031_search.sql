-- Search over finished runs by task, and with it by queue and in a small namespace beside a large one: the tasks of both are known.
create index run_history_task on carillon.run_history (namespace_id, task, id);
-- What somebody asked for by a call, which is rare beside what schedules and programs ask for.
create index run_history_asked on carillon.run_history (namespace_id, id)
  where split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay');

create index job_queue on carillon.job (namespace_id, queue, id);

-- The paths of payloads that jobs or runs declared searchable: their values are labels whose names begin with "$.".
create table carillon.search_path (
  namespace_id int not null references carillon.namespace (id),
  path text not null,
  declared_at timestamptz not null default clock_timestamp(),
  primary key (namespace_id, path)
);
