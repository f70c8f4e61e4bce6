import { CarillonError } from "@carillon/core";
import { type Audit, type Database, audits, checkSchema, runAudit, serverWarnings } from "@carillon/engine";
import type { Config } from "../../config/options.js";
import { type Finding, fail, ok, warn } from "./checks.js";

const REMEDY = "keep these rows and report them: they violate an invariant (docs/invariants.md)";

/** Above this an operator should check the time service of the machine. Correctness does not depend on it. */
const SKEW_MS = 1_000;

/** All checks of a database that answers. */
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
