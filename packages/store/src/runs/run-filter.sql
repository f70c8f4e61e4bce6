-- part: run.conditions
-- purpose: what a filter asks of a run, by the columns id, status, task, queue, job_id, session_id, owner, created_at, trigger and labels.
--   A member that is null asks nothing. An index knows the runs of a job but for the one that has its id. What makes a job a one-off
--   ($8) is for each statement to say
-- params: $2 statuses text[], $3 task text, $4 queue text, $5 job id uuid, $6 session uuid, $7 owner text, $8 one-off jobs only boolean,
--         $9 created from, $10 created before timestamptz, $11 kind of trigger text, $12 labels jsonb, $13 other conditions on labels jsonb
($2::text[] is null or status = any ($2)) and ($3::text is null or task = $3) and ($4::text is null or queue = $4)
and ($5::uuid is null or job_id = $5 and job_id <> id or job_id = $5 and id = $5)
and ($6::uuid is null or session_id = $6) and ($7::text is null or owner = $7)
and ($9::timestamptz is null or created_at >= $9) and ($10::timestamptz is null or created_at < $10)
and ($11::text is null or split_part(trigger, ':', 1) = $11)
and ($12::jsonb is null or labels @> $12::jsonb)
and ($13::jsonb is null or not exists (
  select from jsonb_to_recordset($13::jsonb) as c (key text, is_in boolean, among jsonb)
  where c.is_in <> case when c.among is null then coalesce(labels ? c.key, false)
                        else coalesce(c.among ? (labels ->> c.key), false) end
))

-- part: run.shown_state
-- purpose: what a live run is said to be: one that was queued ahead of its time waits for that time still
-- params: none
case when state <> 'queued' or run_at <= statement_timestamp() then state
     when attempt > 0 and state_reason is null then 'retrying'
     else 'scheduled' end
