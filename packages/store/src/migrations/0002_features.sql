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

-- A change of the meaning of stored rows is a feature with a level. It is used once every node of the cluster supports it: each node row has
-- the level that its version supports, 0 for versions that do not say so, and the setting cluster_level has the level in use.
alter table carillon.node add column level int not null default 0;
comment on column carillon.node.level is 'the feature level that its version supports';
insert into carillon.setting (name, value) values ('cluster_level', '0') on conflict (name) do nothing;

-- A node that does not support the level in use would misread rows, so it cannot join, also if its version checks nothing itself. The share lock
-- makes it wait for a node that is just raising the level, and makes that node wait for it.
create function carillon.refuse_older_node() returns trigger language plpgsql as $$
declare
  level_in_use int;
begin
  select value::int into level_in_use from carillon.setting where name = 'cluster_level' for share;
  if new.level < level_in_use then
    raise exception 'The nodes of this cluster use feature level %, and version % of Carillon supports only level %.',
      level_in_use, new.version, new.level
      using errcode = 'object_not_in_prerequisite_state',
        hint = 'Start a newer version. To go back to this one, stop all nodes and run: select carillon.lower_cluster_level(' || new.level || ');';
  end if;
  return new;
end;
$$;
create trigger node_level before insert on carillon.node for each row execute function carillon.refuse_older_node();

create function carillon.lower_cluster_level(level int) returns void language plpgsql as $$
begin
  perform from carillon.setting where name = 'cluster_level' for update;
  if exists (select from carillon.node where heartbeat_at > clock_timestamp() - interval '1 minute') then
    raise exception 'A node of this cluster wrote its heartbeat less than a minute ago. Stop all nodes first.'
      using errcode = 'object_in_use';
  end if;
  update carillon.setting set value = least(value::int, lower_cluster_level.level)::text where name = 'cluster_level';
end;
$$;
comment on function carillon.lower_cluster_level is 'Lets an older version join again after all nodes were stopped.';
