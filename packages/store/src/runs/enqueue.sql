-- name: enqueue.call
-- purpose: asks for a run in the transaction of whoever sends it. Each parameter stands once, in the order of its number: query builders that
--   number by place can send it too
-- params: $1 task text, $2 payload json, $3 queue text, $4 priority int, $5 run at timestamptz or null, $6 policy jsonb or null,
--         $7 labels jsonb or null, $8 owner text or null, $9 dedupe key text or null, $10 dedupe on text or null,
--         $11 dedupe window s double precision or null, $12 notify boolean, $13 namespace text
-- fence: those of the function. JSON and times are sent as texts, because some drivers would encode them once more
select run_id, is_new
from carillon.enqueue(
  $1::text, $2::text::json, queue => $3::text, priority => $4::int, run_at => $5::text::timestamptz, policy => $6::text::jsonb,
  labels => $7::text::jsonb, owner => $8::text, dedupe_key => $9::text, dedupe_on => $10::text,
  dedupe_window => make_interval(secs => $11::double precision), notify => $12::boolean, namespace => $13::text
);
