-- Plain SQL asks for no run under the product's own names either. Every queue and task that it names becomes a lane here.
create or replace function carillon.lane_of(
  namespace_number int, queue_name text, task_name text, is_once boolean, wanted_labels jsonb
) returns int
language plpgsql as $$
declare
  is_strict boolean;
  lane_kind text;
  lane_number int;
  requirement constant text := coalesce(
    (select string_agg(r.key || '=' || r.value, E'\n' order by r.key collate "C") from jsonb_each_text(wanted_labels) r), ''
  );
begin
  if starts_with(queue_name, 'carillon:') then
    raise exception 'queue % begins with carillon:, as the product''s own names do; take another', quote_literal(queue_name)
      using errcode = '22023';
  elsif starts_with(task_name, 'carillon:') then
    raise exception 'task % begins with carillon:, as the product''s own names do; take another', quote_literal(task_name)
      using errcode = '22023';
  end if;
  select q.order_kind = 'strict' into is_strict from carillon.queue q
  where q.namespace_id = namespace_number and q.name = queue_name;
  if is_strict is null then
    insert into carillon.queue (namespace_id, name) values (namespace_number, queue_name)
    on conflict (namespace_id, name) do nothing;
    select q.order_kind = 'strict' into is_strict from carillon.queue q
    where q.namespace_id = namespace_number and q.name = queue_name;
  end if;
  lane_kind := case when is_strict and is_once then 'strict_once' when is_strict then 'strict' when is_once then 'solo' else 'plain' end;
  select l.id into lane_number from carillon.lane l
  where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  if lane_number is null then
    insert into carillon.lane (queue, task, kind, requires)
    select queue_name, task_name, k.kind, requirement
    from (values ('lost'), ('plain'), ('solo'), ('strict'), ('strict_once')) as k (kind)
    where k.kind = lane_kind or not is_strict and k.kind in ('lost', 'plain', 'solo')
    on conflict (queue, task, kind, requires) do nothing;
    select l.id into lane_number from carillon.lane l
    where l.queue = queue_name and l.task = task_name and l.kind = lane_kind and l.requires = requirement;
  end if;
  return lane_number;
end
$$;
