-- Jobs that start after others. Runs of jobs that nobody waits for touch none of this.

-- Whether others wait for the end of the job's runs; null: nobody does.
alter table carillon.job add column feeds boolean;
alter table carillon.run add column feeds boolean;

-- Who waits for whom. met: the latest run of the upstream job that fits, since the last fire of the one that waits.
create table carillon.dependency (
  job_id uuid not null,
  position smallint not null,
  namespace_id integer not null,
  shard smallint not null,
  upstream_id uuid not null,
  on_status text not null check (on_status in ('success', 'failure', 'finish')),
  condition text,
  met_run_id uuid,
  met_at timestamptz,
  seen_at timestamptz,
  primary key (job_id, position),
  check ((met_run_id is null) = (met_at is null))
);
create index dependency_upstream on carillon.dependency (upstream_id);

-- Runs of upstream jobs that ended and that the waiting job has not been told of. In the shard of the one that waits.
-- parked: it is paused, and its resume says what becomes of it.
create table carillon.dependency_event (
  number bigint generated always as identity,
  job_id uuid not null,
  position smallint not null,
  shard smallint not null,
  run_id uuid not null,
  ended_at timestamptz not null,
  parked boolean not null default false,
  primary key (job_id, position, run_id)
);
create index dependency_event_open on carillon.dependency_event (shard, number) where not parked;

-- Whatever ends a run deletes its row: the event is part of that transaction, so that it can be neither lost nor doubled.
-- Only rows that say so cost anything.
create function carillon.note_ended() returns trigger language plpgsql as $$
begin
  insert into carillon.dependency_event (job_id, position, shard, run_id, ended_at)
  select d.job_id, d.position, d.shard, old.id, clock_timestamp()
  from carillon.dependency d
  where d.upstream_id = old.job_id
  on conflict do nothing;
  return null;
end
$$;
create trigger run_ended after delete on carillon.run for each row when (old.feeds) execute function carillon.note_ended();
