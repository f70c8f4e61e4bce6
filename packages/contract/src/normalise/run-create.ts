import {
  type Dedupe,
  type EnqueueSpec,
  formatDuration,
  type Instant,
  parseDuration,
  parseInstant,
} from "@carillon/core";
import { Type } from "typebox";
import { checkValue, isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue, isPlainlySound } from "../check/json-value.js";
import { limits } from "../schema/limits.js";
import { RunCreate } from "../schema/run-create.js";
import { readBody } from "./body.js";
import { addPayloadFaults } from "./check-payload.js";
import type { Moment } from "./job-request.js";
import { ownSpelling } from "./own-spelling.js";
import { runLimits } from "./run-limits.js";
import { runPolicy } from "./run-policy.js";
import { withDefaults } from "./task-defaults.js";

const defaultCatchupWindowMs = 86_400_000;

/** Turns a request for a run into its spec. `now` is the scheduler's clock: delays count from it. */
export function readRunCreate(body: unknown, moment: Moment): EnqueueSpec {
  return readBody(RunCreate, body, (said, findings) => {
    const given = withDefaults(said, moment.defaultsOf?.(said.task ?? ""), findings);
    if (isObject(body) && !("task" in body)) {
      findings.add("/task", "field_missing", 'task is required: the name of what a worker runs, such as "echo"');
    }
    const { task = "", queue = "default", priority = 4, payload = null, labels = {}, owner, retry, callbacks } = given;
    const runAt = runAtOf(given, moment, findings);
    const dedupe = given.dedupe && dedupeOf(given.dedupe, findings);
    const own = ownSpelling({ ...(retry && { retry }), ...(callbacks && { callbacks }) }, findings);
    const policy = {
      ...runPolicy(own, given, findings, moment.refuseTarget),
      ...runLimits(given, { value: payload }, findings),
    };
    addPayloadFaults(moment.checkPayload, task, payload, findings);
    return {
      task,
      queue,
      priority,
      payload,
      runAt,
      policy,
      labels,
      ...(owner !== undefined && { owner }),
      ...(dedupe && { dedupe }),
    };
  });
}

/** Refuses a payload, by its text, as `readRunCreate` does: for runs that are otherwise like one that was read. */
export function refuseUnsoundPayload(text: string): void {
  if (isPlainlySound(text)) return;
  const findings = new Findings();
  checkJsonValue({ payload: JSON.parse(text) as unknown }, findings);
  findings.raise();
}

function runAtOf({ delay, run_at: text }: RunCreate, moment: Moment, findings: Findings): Instant | null {
  if (delay !== undefined && text !== undefined) {
    findings.add("/delay", "field_invalid", "says the same as /run_at; send one of them");
  }
  if (delay !== undefined) {
    const delayMs = findings.attempt("/delay", () => parseDuration(delay));
    return delayMs === undefined ? null : moment.now + delayMs;
  }
  if (text === undefined) return null;
  const at = findings.attempt("/run_at", () => parseInstant(text));
  const { now, catchupWindowMs = defaultCatchupWindowMs } = moment;
  if (at !== undefined && at < now - catchupWindowMs) {
    const detail = `lies more than ${formatDuration(catchupWindowMs)} in the past; give a later instant, or none to run at once`;
    findings.add("/run_at", "schedule_in_past", detail);
  }
  return at ?? null;
}

/** Ten years: a key that counts for longer belongs into a table of one's own. */
const longestWindowMs = 3_660 * 86_400_000;

function dedupeOf({ key = "", on = "ignore", window }: NonNullable<RunCreate["dedupe"]>, findings: Findings): Dedupe {
  const windowMs =
    window === undefined ? null : (findings.attempt("/dedupe/window", () => parseDuration(window)) ?? null);
  if (windowMs !== null && (windowMs < 1 || windowMs > longestWindowMs)) {
    findings.add("/dedupe/window", "duration_invalid", "must be from 1ms to 3660d");
  }
  return { key, on, windowMs };
}

/** The published form, with the runs as yet unread: each is judged by itself. */
const Envelope = Type.Object(
  { runs: Type.Array(Type.Unknown(), { maxItems: limits.batch }) },
  { additionalProperties: false },
);

export function readRunBatch(body: unknown): readonly unknown[] {
  const findings = new Findings();
  if (!isObject(body)) {
    findings.add("", "field_invalid", 'the body must be a JSON object such as {"runs": [{"task": "echo"}]}');
  }
  const { runs = [] } = (isObject(body) && checkValue(Envelope, body, { findings })) || {};
  if (findings.size === 0 && runs.length === 0) {
    findings.add("/runs", "field_invalid", "the list is empty; send at least one run");
  }
  findings.raise();
  return runs;
}
