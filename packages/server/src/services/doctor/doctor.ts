import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CarillonError, systemClock, systemTimers } from "@carillon/core";
import {
  type Audit,
  type Database,
  type EtcdStatus,
  audits,
  checkSchema,
  etcdStatus,
  openDatabase,
  readClusterLevel,
  runAudit,
  serverWarnings,
  supportedLevel,
} from "@carillon/engine";
import type { Logger } from "pino";
import type { Config } from "../../config/options.js";
import { databaseOptions } from "../database-service.js";
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

const REMEDY = "keep these rows and report them: they violate an invariant (docs/invariants.md)";

/** Above this an operator should check the time service of the machine. Correctness does not depend on it. */
const SKEW_MS = 1_000;

/** All checks of a database that answers. */
async function checkDatabase(database: Database, config: Config): Promise<Finding[]> {
  const schema = await checkSchemaVersion(database);
  return [
    ok("database", `PostgreSQL ${database.server.version} answers`),
    checkPooler(database, config),
    checkSkew(database.clock.skewMs),
    schema,
    ...(await checkSettings(database, config)),
    ...(schema.status === "ok" ? [await checkFeatureLevel(database), ...(await checkInvariants(database))] : []),
  ];
}

function checkPooler(database: Database, config: Config): Finding {
  if (database.server.direct) return ok("pooler", "there is none");
  if (config.databaseDirectUrl !== null) return ok("pooler", "there is one, and a direct URL that bypasses it");
  return warn(
    "pooler",
    "there is one, so that this node polls for wake-ups and detects lost nodes later",
    "set database_direct_url to the address of the server itself",
  );
}

export function checkSkew(skewMs: number): Finding {
  const ms = Math.round(skewMs);
  const detail =
    ms === 0 ? "none" : `this machine is ${Math.abs(ms)} ms ${ms > 0 ? "ahead of" : "behind"} the database`;
  return Math.abs(ms) < SKEW_MS
    ? ok("clock skew", detail)
    : warn("clock skew", detail, "check the time service of both machines");
}

async function checkSchemaVersion(database: Database): Promise<Finding> {
  try {
    await checkSchema(database);
    return ok("schema", `${database.schema} is up to date`);
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    if (error.code === "schema_too_old") return warn("schema", error.message, "a node migrates it when it starts");
    return fail("schema", error.message, "use a version that fits this schema, or another database");
  }
}

/** Which nodes keep the cluster from using the features of this version. */
async function checkFeatureLevel(database: Database): Promise<Finding> {
  const { inUse, nodes } = await readClusterLevel(database, database.schema);
  return featureLevelFinding(inUse, nodes);
}

function featureLevelFinding(
  inUse: number,
  nodes: readonly { readonly name: string; readonly level: number }[],
): Finding {
  const older = nodes.filter(({ level }) => level < supportedLevel).map(({ name }) => name);
  const detail = `the cluster uses level ${inUse} of ${supportedLevel}`;
  if (older.length === 0) return ok("feature level", detail);
  return warn("feature level", `${detail}: ${older.join(", ")} run an older version`, "upgrade these nodes");
}

async function checkSettings(database: Database, config: Config): Promise<Finding[]> {
  const warnings = await serverWarnings(database, config.databasePoolSize);
  if (warnings.length === 0)
    return [ok("settings", "fsync, synchronous_commit, autovacuum and connections are as recommended")];
  return warnings.map(({ setting, value, message }) => warn("settings", `${setting} is ${value}`, message));
}

/** Runs the audits of docs/invariants.md: one line for each violation. */
async function checkInvariants(database: Database): Promise<Finding[]> {
  const all = audits(database.schema);
  const findings: Finding[] = [];
  for (const audit of all) findings.push(...(await checkInvariant(database, audit)));
  if (findings.length > 0) return findings;
  return [ok("invariants", `${all.length} audits found no violation`)];
}

async function checkInvariant(database: Database, audit: Audit): Promise<Finding[]> {
  const name = `INV-${audit.invariant}`;
  try {
    const violation = await runAudit(database, audit);
    if (violation === null) return [];
    const rows = violation.count === 1 ? "1 row" : `${violation.count} rows`;
    const example = JSON.stringify(violation.example);
    return [fail(name, `${rows} against "${violation.rule}", such as ${example}`, REMEDY)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [warn(name, `not audited: ${reason}`, "repeat the check when the database is less busy")];
  }
}
