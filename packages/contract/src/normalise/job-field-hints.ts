import type { ExplainUnknown } from "../check/check-value.js";
import type { Findings } from "../check/findings.js";
import { ScheduleRequest } from "../schema/schedule.js";

/** Fields of the design that this version does not serve. Refused by name, because ignoring them would change what runs. */
const notYet: ReadonlySet<string> = new Set(["dedupe"]);

const setByServer: ReadonlySet<string> = new Set([
  "created_at",
  "description",
  "id",
  "job_id",
  "last_run",
  "next_run_at",
  "next_run_local",
  "pause",
  "run",
  "state",
  "status",
  "task_id",
  "updated_at",
  "version",
  "warnings",
]);

/** Fields that people write one level too high. */
const belongsInSchedule: ReadonlySet<string> = new Set(Object.keys(ScheduleRequest.properties));

/** Says of a field that a job does not take why it does not, where we know. */
export function explainJobField(findings: Findings): ExplainUnknown {
  return (pointer, parent, name) => {
    if (parent === "" && notYet.has(name)) {
      findings.add(pointer, "not_supported_yet", `${name} is not supported by this version; leave it out`);
    } else if (parent === "" && setByServer.has(name)) {
      findings.add(pointer, "unknown_field", `${name} is set by the server; leave it out`);
    } else if (parent === "" && belongsInSchedule.has(name)) {
      findings.add(pointer, "unknown_field", `${name} belongs into schedule: {"schedule": {"${name}": …}}`);
    } else return false;
    return true;
  };
}
