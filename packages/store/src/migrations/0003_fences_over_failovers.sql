-- Fences that are never given twice, also when the database continues from a standby that had not received the last claims.

-- The high part of every fence that a claim gives counts the histories of the database: it grows when a node finds the database failed over
-- or restored, in the transaction that ends every session. The low part (32 bits) counts the claims of the run.
insert into carillon.revision (name) values ('fences');

alter table carillon.worker_session add column fence_floor bigint not null default 0;
comment on column carillon.worker_session.fence_floor is
  'the high part of the fences that claims for it get: of the history of the database in which it was opened';
