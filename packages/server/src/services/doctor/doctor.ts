import { CarillonError, systemClock, systemTimers } from "@carillon/core";
import { type EtcdStatus, etcdStatus, openDatabase } from "@carillon/engine";
import type { Logger } from "pino";
import type { Config } from "../../config/options.js";
import { databaseOptions } from "../database-service.js";
import { checkDatabase } from "./check-database.js";
import { checkDisk } from "./check-disk.js";
import { checkEtcd } from "./check-etcd.js";
import { checkNodeVersion, checkZoneData } from "./check-runtime.js";
import { embeddedUrl } from "./embedded-url.js";
import { type Finding, fail, ok, warn } from "./checks.js";

export interface DoctorOptions {
  readonly config: Config;
  readonly logger: Logger;
}

/** Looks at this machine, its database and its etcd. Starts nothing and changes nothing. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { etcdEndpoints } = options.config;
  const found = await examineNode(options);
  return etcdEndpoints === null ? found : [...found, ...(await checkEtcd(etcdEndpoints, askForStatus))];
}

async function examineNode({ config, logger }: DoctorOptions): Promise<Finding[]> {
  const machine = [checkNodeVersion(process.versions.node), checkZoneData(process.versions["tz"], systemClock.now())];
  if (config.databaseUrl !== null) {
    return [...machine, ...(await examineDatabase({ config, logger }, config.databaseUrl, unreachable))];
  }
  const disk = await checkDisk(config.dataDir);
  const url = await embeddedUrl(config.dataDir);
  if (url === null)
    return [...machine, disk, ok("database", `embedded; none in ${config.dataDir} yet, the first start makes it`)];
  return [...machine, disk, ...(await examineDatabase({ config, logger }, url, notRunning))];
}

/** An audit reads whole tables; history may be long. */
const PATIENT = { statementMs: 300_000 };

async function examineDatabase(
  { config, logger }: DoctorOptions,
  url: string,
  whenAway: (error: CarillonError) => Finding,
): Promise<Finding[]> {
  try {
    const database = await openDatabase({ ...databaseOptions({ config, logger }, url), timeouts: PATIENT });
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
        ? whenAway(error)
        : fail("database", error.message, "correct database_url (CARILLON_DATABASE_URL), or what it names"),
    ];
  }
}

const ETCD_PATIENCE_MS = 2_000;

const askForStatus = (endpoint: string): Promise<EtcdStatus> =>
  etcdStatus(endpoint, { fetch, timers: systemTimers, timeoutMs: ETCD_PATIENCE_MS });

const unreachable = (error: CarillonError): Finding =>
  fail("database", error.message, "start the server, or correct database_url (CARILLON_DATABASE_URL)");

const notRunning = (): Finding =>
  warn("database", "embedded; not running", "start it with `carillon dev` to have it checked");
