-- Search over finished runs. Each index holds only what its filter is about: a plain run that succeeded is in none of them.
create index run_history_owner on carillon.run_history (namespace_id, owner, id) where owner is not null;
create index run_history_labels on carillon.run_history using gin (labels) where labels is not null;
create index run_history_unrun on carillon.run_history (namespace_id, id) where status in ('cancelled', 'skipped');

-- Jobs are read by the API alone.
create index job_owner on carillon.job (namespace_id, owner, id) where owner is not null;
create index job_labels on carillon.job using gin (labels);
create index job_task on carillon.job (namespace_id, task, id);
