-- What plain SQL promises of a run is refused where it is not sound, as its times are.
create or replace function carillon.check_policy(policy jsonb) returns void language plpgsql immutable as $$
declare
  retry constant jsonb := policy -> 'retry';
  sla constant jsonb := policy -> 'sla';
  longest_ms constant numeric := 31622400000;
  fault constant text := case
    when not carillon.is_whole_or_absent(policy -> 'timeoutMs', 1, longest_ms) then 'timeoutMs is not a whole number of ms up to 366 days'
    when not carillon.is_whole_or_absent(policy -> 'deadlineMs', 1, longest_ms) then 'deadlineMs is not a whole number of ms up to 366 days'
    when jsonb_typeof(sla) <> 'object' then 'sla is not an object'
    when not carillon.is_whole_or_absent(sla -> 'startWithinMs', 1, longest_ms) then 'sla.startWithinMs is not a whole number of ms up to 366 days'
    when not carillon.is_whole_or_absent(sla -> 'finishWithinMs', 1, longest_ms) then 'sla.finishWithinMs is not a whole number of ms up to 366 days'
    when policy ->> 'guarantee' not in ('at_least_once', 'at_most_once') then 'guarantee is not at_least_once or at_most_once'
    when jsonb_typeof(retry) <> 'object' then 'retry is not an object'
    when not carillon.is_whole_or_absent(retry -> 'maxAttempts', 1, 10000) then 'retry.maxAttempts is not a whole number from 1 to 10000'
    when not carillon.is_whole_or_absent(retry -> 'initialMs', 0, longest_ms) then 'retry.initialMs is not a whole number of ms up to 366 days'
    when not carillon.is_whole_or_absent(retry -> 'maxMs', 0, longest_ms) then 'retry.maxMs is not a whole number of ms up to 366 days'
    when (retry ->> 'initialMs')::numeric > (retry ->> 'maxMs')::numeric then 'retry.maxMs is shorter than retry.initialMs'
    when jsonb_typeof(retry -> 'factor') <> 'number' then 'retry.factor is not a number'
    when (retry ->> 'factor')::numeric not between 1 and 1000 then 'retry.factor is not from 1 to 1000'
    when retry ->> 'backoff' not in ('exponential', 'linear', 'fixed') then 'retry.backoff is not exponential, linear or fixed'
    when retry ->> 'jitter' not in ('full', 'equal', 'none') then 'retry.jitter is not full, equal or none'
    when jsonb_typeof(retry -> 'nonRetryable') <> 'array' then 'retry.nonRetryable is not a list of names of errors'
  end;
begin
  if fault is not null then
    raise exception 'policy: %', fault using errcode = '22023';
  end if;
end
$$;
