-- A page of a job's ledger is one range of the key, however long the ledger is.
alter table carillon.occurrence drop constraint occurrence_pkey;
alter table carillon.occurrence add constraint occurrence_pkey primary key (job_id, from_at, version, reason);
