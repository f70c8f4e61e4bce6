-- The first run of a one-off job, and every run that stands alone, has its job's id: it is found by that. Only the others need an
-- entry by their job, which saves most runs the writing of one.
drop index carillon.run_history_job;
create index run_history_job on carillon.run_history (job_id, id) where job_id <> id;
