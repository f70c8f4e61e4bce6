-- A run may get its id from its caller, so that a repeated call finds it. Such an id must not be used again by a run after the first one has
-- ended. The ids of live runs are a primary key; those of ended runs are checked by this function at the end of the statement that inserts:
-- it reads with a snapshot of its own, taken after the insert has waited for any transaction that was just ending a run of the same id.
create function carillon.refuse_ended(ids uuid[], since timestamptz) returns void language plpgsql volatile as $$
begin
  if exists (
    select from carillon.run_history
    where id = any (ids) and finished_at >= since and finished_at < statement_timestamp() + interval '1 day'
  ) then
    raise unique_violation using message = 'A run with this id has ended.';
  end if;
end;
$$;
comment on function carillon.refuse_ended is 'Fails with 23505 if one of the ids belongs to a run that ended at or after an instant.';
