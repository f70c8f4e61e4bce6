-- name: health.can_write
-- purpose: fails with 55P03 if the tables that every call writes to cannot be written to now, because somebody has them locked
-- params: none
-- fence: none: the lock is that of an insert, which keeps nobody from anything, and goes with the statement
do $$
begin
  lock table carillon.run, carillon.job, carillon.job_due in row exclusive mode nowait;
end
$$;
