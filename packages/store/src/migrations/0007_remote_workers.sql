-- gateway_id: the node that claims for a worker. Another takes its place under the row's lock; from then on the first claims
-- nothing more for it.
alter table carillon.worker_session add column gateway_id uuid;
