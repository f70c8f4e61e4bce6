import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CarillonError, systemClock, systemTimers } from "@carillon/core";
import { type EtcdStatus, etcdStatus, openDatabase } from "@carillon/engine";
import type { Logger } from "pino";
import type { Config } from "../../config/options.js";
import { databaseOptions } from "../database-service.js";
import { checkDatabase } from "./check-database.js";
import { type Finding, checkDisk, checkEtcd, checkNodeVersion, checkZoneData, fail, ok, warn } from "./checks.js";

export interface DoctorOptions {
  readonly config: Config;
  readonly logger: Logger;
}

/** Checks this machine, its database and its etcd. Starts nothing and changes nothing. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { etcdEndpoints } = options.config;
  const found = await examineNode(options);
  return etcdEndpoints === null ? found : [...found, ...(await checkEtcd(etcdEndpoints, readEtcdStatus))];
}

async function examineNode({ config, logger }: DoctorOptions): Promise<Finding[]> {
  const machine = [checkNodeVersion(process.versions.node), checkZoneData(process.versions["tz"], systemClock.now())];
  if (config.databaseUrl !== null) {
    return [...machine, ...(await examineDatabase({ config, logger }, config.databaseUrl, unreachable))];
  }
  const disk = await checkDisk(config.dataDir);
  const url = await embeddedUrl(config.dataDir);
  if (url === null)
    return [...machine, disk, ok("database", `embedded; none in ${config.dataDir} yet, the first start creates it`)];
  return [...machine, disk, ...(await examineDatabase({ config, logger }, url, notRunning))];
}

/** An audit reads whole tables. */
const AUDIT_TIMEOUTS = { statementMs: 300_000 };

async function examineDatabase(
  { config, logger }: DoctorOptions,
  url: string,
  onUnavailable: (error: CarillonError) => Finding,
): Promise<Finding[]> {
  try {
    const database = await openDatabase({ ...databaseOptions({ config, logger }, url), timeouts: AUDIT_TIMEOUTS });
    try {
      return await checkDatabase(database, config);
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof CarillonError)) {
      return [
        fail("database", error instanceof Error ? error.message : String(error), "check user, password and database"),
      ];
    }
    return [
      error.code === "database_unavailable"
        ? onUnavailable(error)
        : fail(
            "database",
            error.message,
            "correct database_url (CARILLON_DATABASE_URL), or the database that it names",
          ),
    ];
  }
}

const ETCD_TIMEOUT_MS = 2_000;

const readEtcdStatus = (endpoint: string): Promise<EtcdStatus> =>
  etcdStatus(endpoint, { fetch, timers: systemTimers, timeoutMs: ETCD_TIMEOUT_MS });

const unreachable = (error: CarillonError): Finding =>
  fail("database", error.message, "start the server, or correct database_url (CARILLON_DATABASE_URL)");

const notRunning = (): Finding =>
  warn("database", "embedded; not running", "start it with `carillon dev` to have it checked");

/** The URL of the embedded database of a data directory while a node runs it; null if there never was one. */
async function embeddedUrl(dataDir: string): Promise<string | null> {
  try {
    const password = (await readFile(join(dataDir, "password"), "utf8")).trim();
    const server: unknown = JSON.parse(await readFile(join(dataDir, "server.json"), "utf8"));
    if (typeof server !== "object" || server === null || !("port" in server)) return null;
    return `postgresql://carillon:${encodeURIComponent(password)}@127.0.0.1:${String(server.port)}/carillon`;
  } catch {
    return null;
  }
}
