-- name: breaker.not_closed
-- purpose: the breakers that let nothing through, for nodes
-- params: none
-- fence: none, a read
select namespace_id, name, state, probe_at, open_for_ms, probe_until from carillon.breaker where state <> 'closed';

-- name: breaker.open
-- purpose: opens a breaker; one that is open stays as it is, unless it is to stay open for longer
-- params: $1 namespace id int, $2 name text, $3 reason text, $4 how long ms bigint, $5 its usual time ms bigint
-- fence: primary key and the row's lock
insert into carillon.breaker as b (namespace_id, name, state, reason, opened_at, probe_at, open_for_ms, updated_at)
values ($1, $2, 'open', $3, clock_timestamp(), clock_timestamp() + $4::bigint * interval '1 millisecond', $5, clock_timestamp())
on conflict (namespace_id, name) do update
set state = 'open', reason = excluded.reason, opened_at = case when b.state = 'closed' then excluded.opened_at else b.opened_at end,
    probe_at = excluded.probe_at, open_for_ms = excluded.open_for_ms, updated_at = excluded.updated_at,
    openings = b.openings + case when b.state = 'closed' then 1 else 0 end
where b.state = 'closed' or b.state = 'open' and b.probe_at < excluded.probe_at;

-- name: breaker.take_probe
-- purpose: one gateway may try one run: the time has come, or whoever tried before is gone
-- params: $1 namespace id int, $2 name text, $3 gateway uuid, $4 for how long ms bigint
-- fence: state and times compared on the locked row
update carillon.breaker
set state = 'half_open', probe_by = $3, probe_until = clock_timestamp() + $4::bigint * interval '1 millisecond',
    updated_at = clock_timestamp()
where namespace_id = $1 and name = $2
  and (state = 'open' and probe_at <= clock_timestamp() or state = 'half_open' and probe_until <= clock_timestamp())
returning name;

-- name: breaker.keep_probe
-- purpose: the gateway that tries a run still does
-- params: $1 namespace id int, $2 name text, $3 gateway uuid, $4 for how long ms bigint
-- fence: probe_by on the locked row
update carillon.breaker
set probe_until = clock_timestamp() + $4::bigint * interval '1 millisecond', updated_at = clock_timestamp()
where namespace_id = $1 and name = $2 and state = 'half_open' and probe_by = $3
returning name;

-- name: breaker.end_probe
-- purpose: what came of the run that was tried: the breaker closes, or is open for another while
-- params: $1 namespace id int, $2 name text, $3 gateway uuid, $4 closes boolean, $5 how long it is open otherwise ms bigint
-- fence: probe_by on the locked row
update carillon.breaker
set state = case when $4 then 'closed' else 'open' end, probe_by = null, probe_until = null,
    probe_at = clock_timestamp() + $5::bigint * interval '1 millisecond', updated_at = clock_timestamp()
where namespace_id = $1 and name = $2 and state = 'half_open' and probe_by = $3
returning name;

-- name: breaker.reset
-- purpose: closes a breaker by hand; answers it, also if it was closed
-- params: $1 namespace id int, $2 name text
-- fence: the row's lock
update carillon.breaker
set state = 'closed', probe_by = null, probe_until = null, updated_at = clock_timestamp()
where namespace_id = $1 and name = $2
returning name, state, reason, opened_at, probe_at, openings, updated_at;

-- name: breaker.page
-- purpose: a keyset page of breakers that have opened, by name
-- params: $1 namespace id int, $2 after name text or null, $3 limit int, $4 only this one text or null
-- fence: none, a read
select name, state, reason, opened_at, probe_at, openings, updated_at
from carillon.breaker
where namespace_id = $1 and ($2::text is null or name > $2) and ($4::text is null or name = $4)
order by name
limit $3;
