-- name: callback.open
-- purpose: gives the holder of a token the right to end a run under this claim. Returns the answer to an earlier claim of the same
--   attempt that was not used, because its worker was lost before it could report that the run waits
-- fence: (id, fence, session) on a running row, under a share lock; an attempt that was spent has another number
with held_run as materialized (
  select id, namespace_id, fence, attempt
  from carillon.run
  where id = :run_id and fence = :fence and session_id = :session_id and state = 'running'
  for share
), opened as (
  insert into carillon.callback (token_hash, run_id, fence, attempt, namespace_id, created_at)
  select decode(:token_hash, 'hex'), id, fence, attempt, namespace_id, clock_timestamp() from held_run
  on conflict (token_hash) do nothing
)
select earlier.answer::text as value, earlier.answered_at as at
from held_run
left join lateral (
  select callback.answer, callback.answered_at from carillon.callback
  where callback.run_id = held_run.id and callback.fence < held_run.fence and callback.attempt = held_run.attempt
    and callback.answer is not null
  order by callback.fence desc
  limit 1
) earlier on true;

-- name: callback.wait
-- purpose: lets runs wait for their callback without a worker, until a time. Returns the runs that wait, and whether their callback
--   was answered before
-- fence: (id, fence, session) on a running row; a run without a callback row does not wait. The callback's row serializes the wait
--   and the answer: the second one sees the first
with waiting as (
  update carillon.run
  set session_id = :callback_session_id, state_reason = 'callback', started_at = greatest(run.claimed_at, input.begun_at)
  from unnest(:session_ids::uuid[], :run_ids::uuid[], :fences::bigint[], :until_times::timestamptz[], :start_times::timestamptz[])
    as input (session_id, id, fence, until, begun_at)
  where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
    and exists (select from carillon.callback where callback.run_id = any (array[run.id]) and callback.fence = run.fence)
  returning run.id, run.fence, input.until, run.started_at
)
update carillon.callback
set due_at = case when callback.answered_at is null then waiting.until else clock_timestamp() end, begun_at = waiting.started_at
from waiting
where callback.run_id = any (array[waiting.id]) and callback.fence = waiting.fence
returning waiting.id, callback.answered_at is not null as answered;

-- name: callback.answer
-- purpose: stores the answer of a callback, once. Returns its run, and whether the run waits already. If it returns no row,
--   callback.state gives the reason
-- fence: the callback's row, unanswered; its run is running under the claim for which the token was created
update carillon.callback
set answer = :answer::json, answered_at = clock_timestamp(),
    due_at = case when callback.due_at is not null then clock_timestamp() end
where callback.token_hash = decode(:token_hash, 'hex') and callback.answered_at is null
  and exists (select from carillon.run where run.id = any (array[callback.run_id]) and run.fence = callback.fence and run.state = 'running')
returning callback.run_id, callback.fence, callback.begun_at, callback.answer::text as answer, callback.due_at is not null as waits;

-- name: callback.state
-- purpose: why an answer was refused
-- fence: none, a read
select answer is not null as used from carillon.callback where token_hash = decode(:token_hash, 'hex');

-- name: callback.expire
-- purpose: closes the callbacks of runs that have waited long enough: later answers are refused
-- fence: the callback's row, unanswered, its time compared on the locked row
with overdue as materialized (
  select token_hash
  from carillon.callback
  where due_at <= statement_timestamp() and answered_at is null
  order by due_at
  limit :limit
  for update skip locked
)
update carillon.callback set answered_at = clock_timestamp() from overdue where callback.token_hash = any (array[overdue.token_hash]);

-- name: callback.due
-- purpose: waiting runs whose callback was answered or has expired; an expired one has no answer
-- fence: none, a read; every later write carries the run's fence
select run_id, fence, begun_at, answer::text as answer
from carillon.callback
where due_at <= statement_timestamp() and answered_at is not null
order by due_at
limit :limit;

-- name: callback.stopped
-- purpose: waiting runs that were asked to stop. Reads all waiting runs, so it is not executed every second
-- fence: none, a read; every later write carries the run's fence
select callback.run_id, callback.fence, callback.begun_at, null::text as answer
from carillon.callback join carillon.run on run.id = any (array[callback.run_id]) and run.fence = callback.fence
where callback.due_at is not null and callback.answered_at is null and run.state = 'running' and run.cancel_reason is not null
limit :limit;

-- name: callback.close
-- purpose: closes the callbacks of runs that do not wait any more
-- fence: none: the claim is over for good
update carillon.callback set due_at = null, answered_at = coalesce(callback.answered_at, clock_timestamp())
from unnest(:run_ids::uuid[], :fences::bigint[]) as input (run_id, fence)
where callback.run_id = any (array[input.run_id]) and callback.fence = input.fence;

-- name: callback.sweep
-- purpose: deletes callbacks of claims that are over, some rows at a time; one day later, so that a late caller gets the reason of
--   its refusal
-- fence: none: a claim that is over never comes back
with page as materialized (
  select token_hash from carillon.callback where token_hash > decode(:after, 'hex') order by token_hash limit :limit
), deleted as (
  delete from carillon.callback using page
  where callback.token_hash = any (array[page.token_hash]) and callback.created_at < clock_timestamp() - interval '1 day'
    and not exists (
      select from carillon.run where run.id = any (array[callback.run_id]) and run.fence = callback.fence and run.state = 'running'
    )
  returning callback.token_hash
)
select (select encode(token_hash, 'hex') from page order by token_hash desc limit 1) as last, (select count(*) from page) as seen,
       (select count(*) from deleted) as deleted;
