-- Deadlines. A claim changes none of these columns, so the index costs it nothing; a run without a deadline is in no index of them.
alter table carillon.run add column deadline_at timestamptz;
alter table carillon.run_later add column deadline_at timestamptz;
create index run_deadline on carillon.run (deadline_at) where deadline_at is not null;

-- What the policy says, so that a fire need not read JSON.
alter table carillon.job
  add column deadline_ms bigint generated always as ((policy ->> 'deadlineMs')::bigint) stored;
