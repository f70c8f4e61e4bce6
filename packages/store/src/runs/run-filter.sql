-- part: run.conditions
-- purpose: the conditions of a filter on the columns id, status, task, queue, job_id, session_id, owner, created_at, trigger and
--   labels. A member that is null excludes nothing. The job's index leaves out the run that has the job's id. Each statement itself
--   decides which jobs are one-off (`one_off_only`)
(:statuses::text[] is null or status = any (:statuses))
and (:task::text is null or task = :task) and (:queue::text is null or queue = :queue)
and (:job_id::uuid is null or job_id = :job_id and job_id <> id or job_id = :job_id and id = :job_id)
and (:session_id::uuid is null or session_id = :session_id) and (:owner::text is null or owner = :owner)
and (:created_from::timestamptz is null or created_at >= :created_from)
and (:created_before::timestamptz is null or created_at < :created_before)
and (:trigger::text is null or split_part(trigger, ':', 1) = :trigger)
and (:labels::jsonb is null or labels @> :labels::jsonb)
and (:label_conditions::jsonb is null or not exists (
  select from jsonb_to_recordset(:label_conditions::jsonb) as condition (key text, is_in boolean, among jsonb)
  where condition.is_in <> case when condition.among is null then coalesce(labels ? condition.key, false)
                                else coalesce(condition.among ? (labels ->> condition.key), false) end
))

-- part: run.shown_state
-- purpose: the status that callers see of a live run: one that was queued ahead of its time still waits for that time
case when state <> 'queued' or run_at <= statement_timestamp() then state
     when attempt > 0 and state_reason is null then 'retrying'
     else 'scheduled' end
