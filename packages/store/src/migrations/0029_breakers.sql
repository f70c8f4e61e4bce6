-- Circuit breakers. A row is there once a breaker has opened; counting is done in the memory of each node.

-- probe_at: when one run may be tried. probe_by, probe_until: the gateway that tries it, for as long as it says so again.
create table carillon.breaker (
  namespace_id int not null references carillon.namespace (id),
  name text not null,
  state text not null,
  reason text not null,
  opened_at timestamptz not null,
  probe_at timestamptz not null,
  open_for_ms bigint not null,
  probe_by uuid,
  probe_until timestamptz,
  openings int not null default 1,
  updated_at timestamptz not null,
  primary key (namespace_id, name),
  constraint breaker_state check (state in ('closed', 'open', 'half_open')),
  constraint breaker_probe check ((state = 'half_open') = (probe_by is not null))
);
