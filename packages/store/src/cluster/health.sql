-- name: health.can_write
-- purpose: The health check fails with 55P03 if another session has locked the tables that every call writes to.
-- fence: none: the lock is the one of an insert, which blocks no writer, and ends with the statement
do $$
begin
  lock table carillon.run, carillon.job, carillon.job_due in row exclusive mode nowait;
end
$$;
