/** The new names of renamed configuration keys: only for the hint in the error about an unknown key. */
export const renamedKeys: Readonly<Record<string, string>> = {
  direct_database_url: "database_direct_url",
  database_wait: "database_connect_timeout",
  lease: "shard_lease",
  worker_silence: "worker_timeout",
  max_requests: "max_inflight_requests",
  max_request_bytes: "max_inflight_bytes",
  outbound_allow: "outbound_allowlist",
  run_history_days: "run_retention_days",
  run_log_days: "run_log_retention_days",
  shutdown_grace: "shutdown_grace_period",
};
