-- state: what an operator asked of a worker. cordoned: it is given nothing more; draining: it is told to end as well.
alter table carillon.worker_session add column state text not null default 'active'
  constraint worker_session_state check (state in ('active', 'cordoned', 'draining'));
