-- What became of a backfill beside its runs. skipped: instants that the job's overlap policy left out. state_reason: why it was
-- aborted.
alter table carillon.backfill
  add column skipped bigint not null default 0,
  add column state_reason text,
  add constraint backfill_finished_check check ((state = 'running') = (finished_at is null));
