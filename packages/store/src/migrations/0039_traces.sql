-- The trace of whoever asked for a backfill or an operation, for the runs that it makes: {"traceparent", "tracestate"}.
alter table carillon.backfill add column trace json;
alter table carillon.operation add column trace json;
