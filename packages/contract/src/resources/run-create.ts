import { type Dedupe, dedupeActions, type EnqueueSpec, type Instant, parseId } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, printablePattern } from "../bounds.js";
import type { ExplainUnknown } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue, isPlainlySound, readBatch, soundBody } from "../check/read-body.js";
import {
  BatchOf,
  closed,
  Count,
  described,
  DurationText,
  Flag,
  InstantText,
  object,
  readDuration,
  readInstant,
  stringEnum,
  Text,
} from "../fields.js";
import { bodyErrors, type Operation, queryErrors, singleAnswer, storeErrors, writeErrors } from "../operation.js";
import { atMostOne } from "../rules.js";
import { hintFor, translateBody } from "../spellings/translate.js";
import { Problem } from "./problem.js";
import { addPayloadFaults, refuseLongPast, type RequestContext, withDefaults } from "./request-context.js";
import { runLimits } from "./run-limits.js";
import { policyFields, policyRules, runFields, runPolicy } from "./run-policy.js";
import { Run, RunWaitQuery } from "./run.js";
import { BatchWarnings } from "./warning.js";

/** At most ten years: a key that counts for longer belongs into a table of the caller's own. */
const windowBounds = { minMs: 1, maxMs: 3_660 * 86_400_000 };

const DedupeRequest = object(
  "DedupeRequest",
  {
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: printablePattern,
        description: "The identity of the run, in your own naming; without it the task alone is the identity",
        examples: ["welcome:u003"],
      }),
    ),
    on: Type.Optional(
      stringEnum(dedupeActions, {
        description:
          "What happens while another run with this task and key counts: ignore returns that run (the default), reject is an " +
          "error, replace replaces a run that no worker has yet",
      }),
    ),
    window: Type.Optional(
      DurationText(
        "How long a run counts after its end; without it, a run counts only while it is live.",
        "1h",
        windowBounds,
      ),
    ),
  },
  { description: "Prevents a second run with the same identity" },
);

export const RunCreate = object(
  "RunCreate",
  {
    task: runFields.task,
    payload: runFields.payload,
    queue: runFields.queue,
    priority: runFields.priority,
    delay: Type.Optional(DurationText("The delay before the run may start.", "3d")),
    run_at: Type.Optional(InstantText("When the run may start; immediately by default")),
    ...policyFields,
    labels: runFields.labels,
    searchable: runFields.searchable,
    owner: runFields.owner,
    dedupe: Type.Optional(DedupeRequest),
    parent_id: Type.Optional(
      Type.String({
        maxLength: limits.nameLength,
        description: "The run whose handler creates this one",
        examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
      }),
    ),
  },
  {
    examples: [{ task: "echo", payload: { hello: "world" }, dedupe: { key: "hello" } }],
    allOf: [...policyRules.allOf, atMostOne(["run_at", "delay"])],
    "x-carillon-rules": [
      ...policyRules.rules,
      { code: "schedule_in_past", rule: "run_at lies at most 24 h in the past" },
    ],
  },
);
export type RunCreate = Static<typeof RunCreate>;

export const RunCreated = object("RunCreated", {
  ...Run.properties,
  is_new: Type.Boolean({
    description: "Whether this call created the run; false for an existing run with the same dedupe key",
  }),
});
export type RunCreated = Static<typeof RunCreated>;

export const RunBatch = object(
  "RunBatch",
  { runs: BatchOf(RunCreate, "Each like the body that creates one run", limits.runBatch) },
  {
    description: `Up to ${limits.runBatch} runs. Each is stored or refused by itself`,
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
    id: Type.Optional(Text("The id of the new run, or of the existing run with the same dedupe key")),
    is_new: Flag("Whether this call created the run"),
    problem: Type.Optional(described(Problem, "Why no run was stored")),
  },
  { description: "Either id and is_new, or problem" },
);
export type RunBatchResult = Static<typeof RunBatchResult>;

export const RunBatchCreated = object("RunBatchCreated", {
  results: Type.Array(RunBatchResult, { description: "In the order of the request" }),
  created: Count("Created runs"),
  duplicates: Count("Items for which a run existed already"),
  refused: Count("Refused items"),
  warnings: BatchWarnings,
});
export type RunBatchCreated = Static<typeof RunBatchCreated>;

export const createRun = {
  method: "POST",
  path: "/v1/runs",
  aliases: [{ path: "/runs" }],
  tag: "Runs",
  client: "runs.create",
  summary: "Create a run",
  description:
    "The run is durable when the call is answered. With dedupe the answer may be an existing run, as is_new and the status " +
    "show. With wait the call is answered when the run has ended, or after that time with the run as it is then.",
  permission: "runs:write",
  rateClass: "write",
  query: RunWaitQuery,
  body: RunCreate,
  waits: true,
  answers: {
    200: { description: "The existing run with the same dedupe key", schema: RunCreated },
    201: { description: "The new run", schema: RunCreated, headers: { Location: "The address of the run" } },
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
    "id_invalid",
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
  summary: "Create many runs at once",
  description: "Each run is stored or refused by itself. Stored runs are durable when the call is answered.",
  permission: "runs:write",
  rateClass: "bulk",
  body: RunBatch,
  bodyBytes: limits.runBatchBytes,
  ...singleAnswer(RunBatchCreated, "The result for each item", writeErrors),
} as const satisfies Operation;

const RunImportLine = object(
  "RunImportLine",
  {
    line: Count("The number of the line, from 1"),
    id: Type.Optional(Text("The id of the new run, or of the existing run with the same dedupe key")),
    is_new: Flag("Whether this call created the run"),
    problem: Type.Optional(described(Problem, "Why no run was stored")),
  },
  { description: "The result of one line: id and is_new, or problem" },
);
export type RunImportLine = Static<typeof RunImportLine>;

const RunImportSummary = object(
  "RunImportSummary",
  {
    done: Type.Boolean({ description: "Whether every line was read" }),
    lines: Count("Lines with a result"),
    created: Count("Created runs"),
    duplicates: Count("Lines for which a run existed already"),
    refused: Count("Refused lines"),
    stopped_at: Type.Optional(
      Count("The line at which the import stopped. Continue with it, or with the next if it was refused"),
    ),
    problem: Type.Optional(described(Problem, "Why the server stopped, where that was not a refused line")),
  },
  { description: "The last line" },
);
export type RunImportSummary = Static<typeof RunImportSummary>;

export const importRuns = {
  method: "POST",
  path: "/v1/runs:import",
  aliases: [{ path: "/runs:import" }],
  tag: "Runs",
  summary: "Create any number of runs from a stream of lines",
  description:
    "Each line of the body is a run as JSON, of at most 1 MiB. The answer has one line for each, while the body is still being sent, " +
    "so read it meanwhile; its last line is a summary. Runs are durable when their result is sent. A faulty line stops no other, unless " +
    "on_error is stop. Blank lines only count. With dedupe keys an import can be repeated from any line. Any content type is accepted.",
  permission: "runs:write",
  rateClass: "bulk",
  query: closed({
    on_error: Type.Optional(
      stringEnum(["continue", "stop"], {
        description:
          "What a refused line does to the lines after it; continue by default. With stop, lines that were stored together with it may follow",
      }),
    ),
    results: Type.Optional(
      stringEnum(["all", "refused"], {
        description: "Which lines get a result; all by default. The summary counts all of them",
      }),
    ),
  }),
  lines: RunCreate,
  waits: true,
  answers: {
    200: {
      description: "One result on each line, then a summary",
      schema: Type.Union([RunImportLine, RunImportSummary]),
      contentType: "application/x-ndjson",
    },
  },
  errors: [...queryErrors, "json_invalid", ...storeErrors],
} as const satisfies Operation;

/** Reads a request for a run. `now` is the scheduler's clock, from which delays count. */
export function readRunCreate(sent: unknown, context: RequestContext): EnqueueSpec {
  const findings = new Findings();
  const body = sent === undefined ? {} : translateBody(sent, "run", findings);
  const said = soundBody(RunCreate, body, { findings, explainUnknown: explainRunField(findings) });
  return findings.judge(() => {
    const given = withDefaults(said, context.defaultsOf?.(said.task ?? ""), findings);
    const { task = "", queue = "default", priority = 4, payload = null, labels = {}, owner } = given;
    const runAt = runAtOf(given, context, findings);
    const dedupe = given.dedupe && dedupeOf(given.dedupe, findings);
    const policy = {
      ...runPolicy(given, findings, context.refuseTarget),
      ...runLimits(given, { value: payload }, findings),
      ...parentOf(given, findings),
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

function parentOf({ parent_id: text }: Partial<RunCreate>, findings: Findings): { readonly parent?: string } {
  const parent = text === undefined ? undefined : findings.attempt("/parent_id", () => parseId("run", text));
  return parent === undefined ? {} : { parent };
}

/** Explains why a run does not take a field, where the reason is known. */
function explainRunField(findings: Findings): ExplainUnknown {
  return (pointer, parent, name) => {
    const hint = parent === "" ? hintFor("run", name) : undefined;
    if (hint !== undefined) findings.add(pointer, "unknown_field", `${name} is not a field. ${hint}`);
    return hint !== undefined;
  };
}

/** Refuses the JSON text of a payload as `readRunCreate` would: for a run that otherwise equals one that was read. */
export function refuseUnsoundPayload(text: string): void {
  if (isPlainlySound(text)) return;
  const findings = new Findings();
  checkJsonValue({ payload: JSON.parse(text) as unknown }, findings);
  findings.raise();
}

function runAtOf(
  { delay, run_at: text }: Partial<RunCreate>,
  context: RequestContext,
  findings: Findings,
): Instant | null {
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

function dedupeOf({ key = "", on = "ignore", window }: NonNullable<RunCreate["dedupe"]>, findings: Findings): Dedupe {
  return { key, on, windowMs: readDuration(window, "/dedupe/window", findings, windowBounds) ?? null };
}

export function readRunBatch(body: unknown): readonly unknown[] {
  return readBatch(body, {
    name: "runs",
    example: '{"runs": [{"task": "echo"}]}',
    maxItems: limits.runBatch,
    more: "Send several calls, or stream any number of runs, one on each line, to POST /v1/runs:import.",
  });
}
