-- name: breaker.not_closed
-- purpose: the open and half-open breakers of all namespaces, for nodes
-- fence: none, a read
select namespace_id, name, state, probe_at, open_for_ms, probe_until from carillon.breaker where state <> 'closed';

-- name: breaker.open
-- purpose: opens a breaker; one that is open stays as it is, unless it is to stay open for longer
-- fence: primary key and the row's lock
insert into carillon.breaker (namespace_id, name, state, reason, opened_at, probe_at, open_for_ms, updated_at)
values (:namespace_id, :name, 'open', :reason, clock_timestamp(), clock_timestamp() + :open_for_ms::bigint * interval '1 millisecond',
        :usual_ms, clock_timestamp())
on conflict (namespace_id, name) do update
set state = 'open', reason = excluded.reason,
    opened_at = case when breaker.state = 'closed' then excluded.opened_at else breaker.opened_at end,
    probe_at = excluded.probe_at, open_for_ms = excluded.open_for_ms, updated_at = excluded.updated_at,
    openings = breaker.openings + case when breaker.state = 'closed' then 1 else 0 end
where breaker.state = 'closed' or breaker.state = 'open' and breaker.probe_at < excluded.probe_at;

-- name: breaker.take_probe
-- purpose: lets one gateway probe with one run: the time has come, or the gateway that probed before is gone
-- fence: state and times compared on the locked row
update carillon.breaker
set state = 'half_open', probe_by = :gateway_id, probe_until = clock_timestamp() + :for_ms::bigint * interval '1 millisecond',
    updated_at = clock_timestamp()
where namespace_id = :namespace_id and name = :name
  and (state = 'open' and probe_at <= clock_timestamp() or state = 'half_open' and probe_until <= clock_timestamp())
returning name;

-- name: breaker.keep_probe
-- purpose: renews the probe of a gateway
-- fence: probe_by on the locked row
update carillon.breaker
set probe_until = clock_timestamp() + :for_ms::bigint * interval '1 millisecond', updated_at = clock_timestamp()
where namespace_id = :namespace_id and name = :name and state = 'half_open' and probe_by = :gateway_id
returning name;

-- name: breaker.end_probe
-- purpose: ends a probe: the breaker closes, or opens again for some time
-- fence: probe_by on the locked row
update carillon.breaker
set state = case when :closes then 'closed' else 'open' end, probe_by = null, probe_until = null,
    probe_at = clock_timestamp() + :open_for_ms::bigint * interval '1 millisecond', updated_at = clock_timestamp()
where namespace_id = :namespace_id and name = :name and state = 'half_open' and probe_by = :gateway_id
returning name;

-- name: breaker.reset
-- purpose: closes a breaker on an operator's request; returns it, also if it was closed
-- fence: the row's lock
update carillon.breaker
set state = 'closed', probe_by = null, probe_until = null, updated_at = clock_timestamp()
where namespace_id = :namespace_id and name = :name
returning name, state, reason, opened_at, probe_at, openings, updated_at;

-- name: breaker.page
-- purpose: a keyset page of the breakers that have ever opened, by name
-- fence: none, a read
select name, state, reason, opened_at, probe_at, openings, updated_at
from carillon.breaker
where namespace_id = :namespace_id and (:after::text is null or name > :after) and (:only::text is null or name = :only)
order by name
limit :limit;
