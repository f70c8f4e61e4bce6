-- The claim by which a run of a strict queue is tried for a breaker. It is over as soon as no run is running under it; every such claim
-- compares the version, so that two queues behind one breaker do not try a run each.
alter table carillon.breaker
  add column probe_run_id uuid,
  add column probe_fence bigint,
  add column probe_version bigint not null default 0;
