import { type Audit, type Database, audits, runAudit } from "@carillon/engine";
import { type Finding, fail, ok, warn } from "./checks.js";

const REMEDY = "keep these rows and report them: this must not happen (docs/invariants.md)";

/** Runs the audits of docs/invariants.md: one line for each that found something. */
export async function checkInvariants(database: Database): Promise<Finding[]> {
  const all = audits(database.schema);
  const findings: Finding[] = [];
  for (const audit of all) findings.push(...(await checkInvariant(database, audit)));
  if (findings.length > 0) return findings;
  return [ok("invariants", `${all.length} audits, none found anything`)];
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
    return [warn(name, `not audited: ${reason}`, "look again when the database has less to do")];
  }
}
