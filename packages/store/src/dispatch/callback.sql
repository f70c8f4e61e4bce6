-- name: callback.open
-- purpose: gives whoever has a token the right to end a run under this claim. Answers what came for an earlier claim of the same
--   try and was not used: its worker was lost before it could say that the run waits
-- params: $1 session uuid, $2 run id uuid, $3 fence bigint, $4 hash of the token text
-- fence: (id, fence, session) on a running row, under a share lock; a try that was spent has another number
with held as materialized (
  select r.id, r.namespace_id, r.fence, r.attempt
  from carillon.run r
  where r.id = $2 and r.fence = $3 and r.session_id = $1 and r.state = 'running'
  for share of r
), opened as (
  insert into carillon.callback (token_hash, run_id, fence, attempt, namespace_id, created_at)
  select decode($4, 'hex'), id, fence, attempt, namespace_id, clock_timestamp() from held
  on conflict (token_hash) do nothing
)
select e.answer::text as value, e.answered_at as at
from held h
left join lateral (
  select c.answer, c.answered_at from carillon.callback c
  where c.run_id = h.id and c.fence < h.fence and c.attempt = h.attempt and c.answer is not null
  order by c.fence desc
  limit 1
) e on true;

-- name: callback.wait
-- purpose: lets runs go on without a worker until their callback comes, or their time is over. Answers them, and whether the
--   callback came before
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 until timestamptz[], $5 begun at timestamptz[], $6 nobody uuid
-- fence: (id, fence, session) on a running row; a run that nobody can end does not wait. The callback's row decides who comes
--   first: whoever comes second sees the other
with waiting as (
  update carillon.run r
  set session_id = $6, state_reason = 'callback', started_at = greatest(r.claimed_at, i.begun_at)
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
    as i (session_id, id, fence, until, begun_at)
  where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
    and exists (select from carillon.callback c where c.run_id = any (array[r.id]) and c.fence = r.fence)
  returning r.id, r.fence, i.until, r.started_at
)
update carillon.callback c
set due_at = case when c.answered_at is null then w.until else clock_timestamp() end, begun_at = w.started_at
from waiting w
where c.run_id = any (array[w.id]) and c.fence = w.fence
returning w.id, c.answered_at is not null as answered;

-- name: callback.answer
-- purpose: records what a callback says, once; answers the run, and whether it waits already. Without a row: callback.state says why
-- params: $1 hash of the token text, $2 answer text
-- fence: the callback's row, unanswered; its run is running under the claim that it was made for
update carillon.callback c
set answer = $2::json, answered_at = clock_timestamp(),
    due_at = case when c.due_at is not null then clock_timestamp() end
where c.token_hash = decode($1, 'hex') and c.answered_at is null
  and exists (select from carillon.run r where r.id = any (array[c.run_id]) and r.fence = c.fence and r.state = 'running')
returning c.run_id, c.fence, c.begun_at, c.answer::text as answer, c.due_at is not null as waits;

-- name: callback.state
-- purpose: why a callback was not taken
-- params: $1 hash of the token text
-- fence: none, a read
select answer is not null as used from carillon.callback where token_hash = decode($1, 'hex');

-- name: callback.expire
-- purpose: closes callbacks whose runs have waited long enough: what comes now comes too late
-- params: $1 limit int
-- fence: the callback's row, unanswered, its time compared on the locked row
with late as materialized (
  select c.token_hash
  from carillon.callback c
  where c.due_at <= statement_timestamp() and c.answered_at is null
  order by c.due_at
  limit $1
  for update of c skip locked
)
update carillon.callback c set answered_at = clock_timestamp() from late where c.token_hash = any (array[late.token_hash]);

-- name: callback.due
-- purpose: waiting runs whose callback came or will not come; no answer stands for the latter
-- params: $1 limit int
-- fence: none, a read; what is done about a run carries its fence
select c.run_id, c.fence, c.begun_at, c.answer::text as answer
from carillon.callback c
where c.due_at <= statement_timestamp() and c.answered_at is not null
order by c.due_at
limit $1;

-- name: callback.stopped
-- purpose: waiting runs that are to stop. It looks at all that wait: not for every second
-- params: $1 limit int
-- fence: none, a read; what is done about a run carries its fence
select c.run_id, c.fence, c.begun_at, null::text as answer
from carillon.callback c join carillon.run r on r.id = any (array[c.run_id]) and r.fence = c.fence
where c.due_at is not null and c.answered_at is null and r.state = 'running' and r.cancel_reason is not null
limit $1;

-- name: callback.settle
-- purpose: these runs wait no longer, whoever ended them
-- params: $1 run ids uuid[], $2 fences bigint[]
-- fence: none: the claim is over for ever
update carillon.callback c set due_at = null, answered_at = coalesce(c.answered_at, clock_timestamp())
from unnest($1::uuid[], $2::bigint[]) as i (run_id, fence)
where c.run_id = any (array[i.run_id]) and c.fence = i.fence;

-- name: callback.sweep
-- purpose: removes callbacks of claims that are over, some rows at a time; a day later, so that who calls late is told why
-- params: $1 after hash text, $2 limit int
-- fence: none: a claim that is over never comes back
with part as materialized (
  select token_hash from carillon.callback where token_hash > decode($1, 'hex') order by token_hash limit $2
), gone as (
  delete from carillon.callback c using part
  where c.token_hash = any (array[part.token_hash]) and c.created_at < clock_timestamp() - interval '1 day'
    and not exists (
      select from carillon.run r where r.id = any (array[c.run_id]) and r.fence = c.fence and r.state = 'running'
    )
  returning c.token_hash
)
select (select encode(token_hash, 'hex') from part order by token_hash desc limit 1) as last, (select count(*) from part) as seen,
       (select count(*) from gone) as gone;
