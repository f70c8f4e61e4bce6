-- The way of a run through the queue: claims that change no index, and lanes whose runs are never handed out ahead.

-- stage: which of the three partial indexes a row is in. A claim changes the state and not the stage: no index changes, and the
-- new version of the row stays on its page, half of which is left free for that.
alter table carillon.run
  add column stage smallint not null generated always as (
    case when state in ('queued', 'running') then 1 when state in ('scheduled', 'retrying') then 2 else 3 end
  ) stored;
alter table carillon.run set (fillfactor = 50);

drop index carillon.run_claim;
drop index carillon.run_due;
drop index carillon.run_blocked;
create index run_claim on carillon.run (lane, namespace_id, rank) where stage = 1;
create index run_due on carillon.run (shard, run_at) where stage = 2;
create index run_blocked on carillon.run (shard, id) where stage = 3;

-- kind: plain runs may be handed out ahead, to wait at a worker. solo ones are handed out only to a free slot (at-most-once runs);
-- lost ones, which lost a worker before, also one at a time to each worker. Every lane comes in all kinds, so that a run can
-- change over.
alter table carillon.lane
  add column kind text not null default 'plain',
  add constraint lane_kind check (kind in ('plain', 'solo', 'lost'));
alter table carillon.lane drop constraint lane_queue_task_key;
alter table carillon.lane add constraint lane_of unique (queue, task, kind);
insert into carillon.lane (queue, task, kind)
select l.queue, l.task, k.kind from carillon.lane l cross join (values ('solo'), ('lost')) as k (kind);
