import { type Dedupe, dedupeActions, type EnqueueSpec, type Instant } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, printablePattern } from "../bounds.js";
import { isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue, isPlainlySound } from "../check/json-value.js";
import { readBatch, readBody } from "../check/read-body.js";
import {
  readDuration,
  readInstant,
  described,
  Count,
  DurationText,
  InstantText,
  stringEnum,
  object,
} from "../fields.js";
import { bodyErrors, type Operation, storeErrors, writeErrors } from "../operation.js";
import { Problem } from "./problem.js";
import { refuseLongPast, addPayloadFaults, type RequestContext } from "./request-context.js";
import { runLimits } from "./run-limits.js";
import { placedPolicies, policyFields, runFields, runPolicy } from "./run-policy.js";
import { Run, RunWaitQuery } from "./run.js";
import { withDefaults } from "./task-defaults.js";

const DedupeRequest = object(
  "DedupeRequest",
  {
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: printablePattern,
        description: "What the run is about, in your own words; without it the task alone is the identity",
        examples: ["welcome:u003"],
      }),
    ),
    on: Type.Optional(
      stringEnum(dedupeActions, {
        description:
          "While another run of this task and key counts: ignore answers with that run (the default), reject is an error, replace " +
          "takes the place of one that no worker has yet",
      }),
    ),
    window: Type.Optional(
      DurationText("How long a run counts after its end; without it a run counts while it is live.", "1h"),
    ),
  },
  { description: "Business identity of the run" },
);

export const RunCreate = object(
  "RunCreate",
  {
    task: runFields.task,
    payload: runFields.payload,
    queue: runFields.queue,
    priority: runFields.priority,
    delay: Type.Optional(DurationText("How long to wait before it may start.", "3d")),
    run_at: Type.Optional(InstantText("When it may start; at once when neither this nor delay is given")),
    ...policyFields,
    labels: runFields.labels,
    searchable: runFields.searchable,
    owner: runFields.owner,
    dedupe: Type.Optional(DedupeRequest),
  },
  {
    description: "task is required.",
    examples: [{ task: "echo", payload: { hello: "world" }, dedupe: { key: "hello" } }],
  },
);
export type RunCreate = Static<typeof RunCreate>;

export const RunCreated = object("RunCreated", {
  ...Run.properties,
  is_new: Type.Boolean({ description: "Whether this call made the run; false: it counts for the same dedupe key" }),
});
export type RunCreated = Static<typeof RunCreated>;

export const RunBatch = object(
  "RunBatch",
  { runs: Type.Array(RunCreate, { maxItems: limits.batch, description: "Each as in asking for one run" }) },
  {
    description: `Up to ${limits.batch} runs. Each is stored or refused by itself.`,
    examples: [
      {
        runs: [
          { task: "echo", payload: 1 },
          { task: "echo", payload: 2 },
        ],
      },
    ],
  },
);
export type RunBatch = Static<typeof RunBatch>;

const RunBatchResult = object(
  "RunBatchResult",
  {
    id: Type.Optional(
      Type.String({ description: "Of the run: the new one, or the one that counts for its dedupe key" }),
    ),
    is_new: Type.Optional(Type.Boolean({ description: "Whether this call made the run" })),
    problem: Type.Optional(described(Problem, "Why there is none")),
  },
  { description: "Either id and is_new or problem" },
);
export type RunBatchResult = Static<typeof RunBatchResult>;

export const RunBatchCreated = object("RunBatchCreated", {
  results: Type.Array(RunBatchResult, { description: "In the order of the request" }),
  created: Count("How many runs were made"),
  duplicates: Count("For how many a run was there already"),
  refused: Count("How many were refused"),
});
export type RunBatchCreated = Static<typeof RunBatchCreated>;

export const createRun = {
  method: "POST",
  path: "/v1/runs",
  aliases: [{ path: "/runs" }],
  tag: "Runs",
  client: "runs.create",
  summary: "Ask for a run",
  description:
    "Durable when it is answered. With dedupe the answer may be a run that was there before: is_new and the status say so. " +
    "With wait it is answered when the run has ended, or after that time as the run is then.",
  permission: "runs:write",
  rateClass: "write",
  query: RunWaitQuery,
  body: RunCreate,
  waits: true,
  answers: {
    200: { description: "The run that counts for the same dedupe key", schema: RunCreated },
    201: { description: "The new run", schema: RunCreated, headers: { Location: "Where the run is" } },
  },
  errors: [
    ...bodyErrors,
    "duration_invalid",
    "instant_invalid",
    "schedule_in_past",
    "retry_invalid",
    "limit_invalid",
    "template_invalid",
    "template_value_missing",
    "template_value_invalid",
    "payload_invalid",
    "address_refused",
    "run_duplicate",
    "dedupe_busy",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const createRuns = {
  method: "POST",
  path: "/v1/runs:batchCreate",
  aliases: [{ path: "/runs:batchCreate" }],
  tag: "Runs",
  client: "runs.createMany",
  clientBody: "runs",
  summary: "Ask for many runs at once",
  description: "Each run is stored or refused by itself. Those that were stored are durable when it is answered.",
  permission: "runs:write",
  rateClass: "bulk",
  body: RunBatch,
  answers: { 200: { description: "What became of each", schema: RunBatchCreated } },
  errors: writeErrors,
} as const satisfies Operation;

/** Reads a request for a run. `now` is the scheduler's clock, from which delays count. */
export function readRunCreate(body: unknown, context: RequestContext): EnqueueSpec {
  return readBody(RunCreate, body, (said, findings) => {
    const given = withDefaults(said, context.defaultsOf?.(said.task ?? ""), findings);
    if (isObject(body) && !("task" in body)) {
      findings.add("/task", "field_missing", 'task is required: the name of the task to run, such as "echo".');
    }
    const { task = "", queue = "default", priority = 4, payload = null, labels = {}, owner } = given;
    const runAt = runAtOf(given, context, findings);
    const dedupe = given.dedupe && dedupeOf(given.dedupe, findings);
    const policy = {
      ...runPolicy(placedPolicies(given), given, findings, context.refuseTarget),
      ...runLimits(given, { value: payload }, findings),
    };
    addPayloadFaults(context.checkPayload, task, payload, findings);
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

/** Refuses the JSON text of a payload as `readRunCreate` would: for a run that otherwise equals one that was read. */
export function refuseUnsoundPayload(text: string): void {
  if (isPlainlySound(text)) return;
  const findings = new Findings();
  checkJsonValue({ payload: JSON.parse(text) as unknown }, findings);
  findings.raise();
}

function runAtOf({ delay, run_at: text }: RunCreate, context: RequestContext, findings: Findings): Instant | null {
  if (delay !== undefined && text !== undefined) {
    findings.add("/delay", "field_invalid", "Means the same as /run_at. Send only one of them.");
  }
  if (delay !== undefined) {
    const delayMs = readDuration(delay, "/delay", findings);
    return delayMs === undefined ? null : context.now + delayMs;
  }
  const at = readInstant(text, "/run_at", findings);
  const hint = "Send a later instant, or none to run at once.";
  if (at !== undefined) refuseLongPast(at, context, { pointer: "/run_at", hint, findings });
  return at ?? null;
}

/** At most ten years: a key that counts for longer belongs into a table of the caller's own. */
const windowBounds = { minMs: 1, maxMs: 3_660 * 86_400_000 };

function dedupeOf({ key = "", on = "ignore", window }: NonNullable<RunCreate["dedupe"]>, findings: Findings): Dedupe {
  return { key, on, windowMs: readDuration(window, "/dedupe/window", findings, windowBounds) ?? null };
}

export function readRunBatch(body: unknown): readonly unknown[] {
  return readBatch(body, "runs", '{"runs": [{"task": "echo"}]}');
}
