-- Namespaces can be made and weighed; workers can serve several of them.

-- weight: the share of the workers that serve several namespaces, in proportion to the weights of the others that have work.
alter table carillon.namespace
  add column weight int not null default 1,
  add column version int not null default 1,
  add column updated_at timestamptz not null default now(),
  add constraint namespace_weight check (weight between 1 and 1000);

-- namespaces: those that the worker serves, by name, or * for all; null for its own alone.
alter table carillon.worker_session add column namespaces text[];
