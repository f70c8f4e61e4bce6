-- name: enqueue.call
-- purpose: enqueues a run in the transaction of the caller. Each parameter occurs once, in the order of its number, so that query
--   builders that number parameters by position can send it too
-- fence: those of the function. JSON and times are sent as text, because some drivers would encode them once more
select run_id, is_new
from carillon.enqueue(
  :task::text, :payload::text::json, queue => :queue::text, priority => :priority::int, run_at => :run_at::text::timestamptz,
  policy => :policy::text::jsonb,
  labels => :labels::text::jsonb, owner => :owner::text, dedupe_key => :dedupe_key::text, dedupe_on => :dedupe_on::text,
  dedupe_window => make_interval(secs => :dedupe_window_s::double precision), notify => :notify::boolean, namespace => :namespace::text
);
