-- A queue is purged by an operation.
alter table carillon.operation drop constraint operation_kind_check;
alter table carillon.operation add constraint operation_kind_check check (kind in ('cancel', 'retry', 'discard', 'purge'));
