import { totalmem } from "node:os";
import { EmbeddedPostgresError } from "../errors.js";

const MB = 1024 * 1024;

/** The machine's memory, or the container's limit when that is smaller. */
export function availableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

/**
 * Settings for a machine that runs other programs too. Stored data is safe: fsync, synchronous_commit and full_page_writes keep
 * their default, on. Only names that every version since 14 has.
 */
export function tunedSettings(memoryBytes: number): Readonly<Record<string, string>> {
  const share = (part: number, minMb: number, maxMb: number) =>
    `${Math.round(Math.min(maxMb, Math.max(minMb, memoryBytes / part / MB)))}MB`;
  return {
    shared_buffers: share(16, 32, 512),
    effective_cache_size: share(2, 128, 8192),
    maintenance_work_mem: share(64, 16, 128),
    work_mem: share(1024, 4, 16),
    max_connections: "100",
    max_wal_size: "1GB",
    min_wal_size: "80MB",
    // Queue tables change quickly: check often, and let a vacuum finish.
    autovacuum_naptime: "10s",
    autovacuum_vacuum_cost_delay: "1ms",
    // Queries are short; compiling them costs more than it saves. Disks are SSDs.
    jit: "off",
    random_page_cost: "1.1",
    timezone: "UTC",
    cluster_name: "carillon",
    log_timezone: "UTC",
    log_min_messages: "warning",
    log_checkpoints: "off",
  };
}

/** Settings that the caller cannot change: loopback only, and a log on stderr with the SQLSTATE in each line. */
const FIXED: Readonly<Record<string, string>> = {
  log_line_prefix: "%m [%p] %e ",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  logging_collector: "off",
  log_destination: "stderr",
};

/** The arguments of the postmaster. `-D` is first, since it identifies an orphan. */
export function serverArgs(cluster: string, port: number, settings: Readonly<Record<string, string>>): string[] {
  const merged = { ...settings, ...FIXED };
  const pairs = Object.entries(merged).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", cluster, "-p", String(port), ...pairs];
}

export function checkSettings(settings: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(settings)) {
    if (/^[a-z_][a-z0-9_.]*$/.test(name) && !(name in FIXED) && name !== "port" && name !== "data_directory") continue;
    throw new EmbeddedPostgresError(
      "embedded_setting_invalid",
      `Setting "${name}" is not allowed for the embedded PostgreSQL: ` +
        "the launcher sets its address, port, directory and log, and names of settings are in lower case.",
    );
  }
}
