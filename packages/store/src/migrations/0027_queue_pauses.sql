-- Pauses of queues that end by themselves. paused_until repeats what the pause says, for those that look for what is over.
alter table carillon.queue add column paused_until timestamptz;
create index queue_paused on carillon.queue (paused_until) where paused_until is not null;
