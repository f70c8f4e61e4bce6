-- Which versions of its tasks a worker has, how many slots their runs take, and whether it may go at any time.
alter table carillon.worker_session
  add column versions jsonb not null default '{}'::jsonb,
  add column weights jsonb not null default '{}'::jsonb,
  add column is_spot boolean not null default false,
  drop constraint worker_session_state,
  add constraint worker_session_state check (state in ('active', 'cordoned', 'draining', 'leaving'));
