import { CarillonError } from "@carillon/core";
import { type Database, checkSchema, serverWarnings } from "@carillon/engine";
import type { Config } from "../../config/options.js";
import { checkInvariants } from "./check-invariants.js";
import { type Finding, fail, ok, warn } from "./checks.js";

/** Beyond this an operator should look at the machine's time service. Correctness does not depend on it. */
const SKEW_MS = 1_000;

/** Everything that can be said of a database that answers. */
export async function checkDatabase(database: Database, config: Config): Promise<Finding[]> {
  const schema = await checkSchemaVersion(database);
  return [
    ok("database", `PostgreSQL ${database.server.version} answers`),
    checkPooler(database, config),
    checkSkew(database.clock.skewMs),
    schema,
    ...(await checkSettings(database, config)),
    ...(schema.status === "ok" ? await checkInvariants(database) : []),
  ];
}

function checkPooler(database: Database, config: Config): Finding {
  if (database.server.direct) return ok("pooler", "none between");
  if (config.directDatabaseUrl !== null) return ok("pooler", "there is one, and a direct URL past it");
  return warn(
    "pooler",
    "there is one, so wake-ups come by polling and losses of nodes are noticed later",
    "give the server's own address as direct_database_url",
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

async function checkSettings(database: Database, config: Config): Promise<Finding[]> {
  const warnings = await serverWarnings(database, config.databasePoolSize);
  if (warnings.length === 0)
    return [ok("settings", "fsync, synchronous_commit, autovacuum and connections are as they should be")];
  return warnings.map(({ setting, value, message }) => warn("settings", `${setting} is ${value}`, message));
}
