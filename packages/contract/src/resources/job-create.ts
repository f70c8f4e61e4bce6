import { type JobSpec, ownFiring, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { keyPattern, limits } from "../bounds.js";
import type { ExplainUnknown } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { readBatch, soundBody } from "../check/read-body.js";
import { BatchOf, Count, described, object, Text } from "../fields.js";
import { definitionErrors, type Operation, singleAnswer, storeErrors, writeErrors } from "../operation.js";
import { type Condition, type MemberRules } from "../rules.js";
import { hasOtherSpelling, hintFor, translateBody } from "../spellings/translate.js";
import { firingRequest, readFiring } from "./firing-policy.js";
import { type ScheduleDraft, scheduleKinds, ScheduleRequest, scheduleSpec } from "./job-schedule.js";
import { etag, Job } from "./job.js";
import { Problem } from "./problem.js";
import { addAddressFaults, addPayloadFaults, type RequestContext, withDefaults } from "./request-context.js";
import { runLimits } from "./run-limits.js";
import { policyFields, policyRules, runFields, runPolicy } from "./run-policy.js";
import { BatchWarnings } from "./warning.js";

export const jobFields = {
  task: Type.Optional(runFields.task),
  payload: runFields.payload,
  schedule: Type.Optional(ScheduleRequest),
  key: Type.Optional(
    Type.String({
      pattern: keyPattern,
      description: "A key of your choice for the job, unique in the namespace",
      examples: ["nightly-report"],
    }),
  ),
  ...policyFields,
  priority: runFields.priority,
  queue: runFields.queue,
  ...firingRequest,
  labels: runFields.labels,
  searchable: runFields.searchable,
  owner: runFields.owner,
};

/** The kind of the schedule is named, or the schedule is empty: {} fires once, immediately. */
const namesKind: Condition = {
  properties: { schedule: { anyOf: [{ maxProperties: 0 }, ...scheduleKinds.map((kind) => ({ required: [kind] }))] } },
};

const jobRules = {
  allOf: [...policyRules.allOf, namesKind],
  "x-carillon-rules": policyRules.rules,
} as const satisfies MemberRules;

export const JobCreate = object(
  "JobCreate",
  { ...jobFields, task: runFields.task },
  {
    description: "Without a schedule the job runs once, immediately.",
    examples: [
      {
        task: "echo",
        key: "nightly-report",
        payload: { hello: "world" },
        schedule: { cron: "0 9 * * MON-FRI", time_zone: "Europe/Paris" },
      },
    ],
    ...jobRules,
  },
);
export type JobCreate = Static<typeof JobCreate>;

/** The same without a task, which a preview does not need. */
export const JobPreviewRequest = object("JobPreviewRequest", jobFields, {
  description: "The body that creates a job; task may be left out.",
  examples: [{ schedule: { cron: "0 9 * * MON-FRI", time_zone: "Europe/Paris" } }],
  ...jobRules,
});
export type JobPreviewRequest = Static<typeof JobPreviewRequest>;

export const JobBatch = object(
  "JobBatch",
  { jobs: BatchOf(JobCreate, "Each like the body that creates one job") },
  {
    description: `Up to ${limits.batch} jobs. Each is created or refused by itself`,
    examples: [
      {
        jobs: [
          { task: "echo", key: "one" },
          { task: "echo", key: "two" },
        ],
      },
    ],
  },
);
export type JobBatch = Static<typeof JobBatch>;

const BatchResult = object(
  "BatchResult",
  {
    id: Type.Optional(Text("The id of the created job")),
    problem: Type.Optional(described(Problem, "Why no job was created")),
  },
  { description: "Either id or problem" },
);
export type BatchResult = Static<typeof BatchResult>;

export const JobBatchCreated = object("JobBatchCreated", {
  results: Type.Array(BatchResult, { description: "In the order of the request" }),
  created: Count("Created jobs"),
  refused: Count("Refused jobs"),
  warnings: BatchWarnings,
});
export type JobBatchCreated = Static<typeof JobBatchCreated>;

export const createJob = {
  method: "POST",
  path: "/v1/jobs",
  aliases: [{ path: "/jobs", legacySpelling: true }],
  idempotencyField: "idempotency_key",
  tag: "Jobs",
  client: "jobs.create",
  summary: "Create a job",
  description: "The job is durable when the call is answered. Without a schedule the job runs once, immediately.",
  permission: "jobs:write",
  rateClass: "write",
  body: JobCreate,
  answers: {
    201: { description: "The job", schema: Job, headers: { Location: "The address of the job", ETag: etag } },
  },
  errors: [...definitionErrors, "key_taken", ...storeErrors],
} as const satisfies Operation;

export const createJobs = {
  method: "POST",
  path: "/v1/jobs:batchCreate",
  aliases: [{ path: "/jobs:batchCreate" }],
  tag: "Jobs",
  client: "jobs.createMany",
  clientBody: "jobs",
  summary: "Create many jobs at once",
  description:
    "Each job is created or refused by itself. One call costs far less than many. Created jobs are durable when the call is " +
    "answered.",
  permission: "jobs:write",
  rateClass: "bulk",
  body: JobBatch,
  ...singleAnswer(JobBatchCreated, "The result for each item", writeErrors),
} as const satisfies Operation;

export interface JobRequest {
  readonly spec: JobSpec;
  /** The caller used names of another system, so the answer carries those too. */
  readonly hasLegacySpelling: boolean;
}

export const defaultQueue = "default";

export const defaultPriority = 4;

/**
 * Reads the body of a request, in the spelling of Carillon or of another system, into the definition of a job. `now` is the scheduler's
 * clock, from which delays count. Throws one CarillonError that names every fault.
 */
export function normaliseJobRequest(body: unknown, context: RequestContext): JobRequest {
  const findings = new Findings();
  const spec = readJob(translateBody(body, "job", findings), context, findings);
  return { spec, hasLegacySpelling: hasOtherSpelling(body, "job") };
}

/** The same for a body in our spelling, with the places where its caller wrote the fields. */
export function readJob(body: unknown, context: RequestContext, findings: Findings): JobSpec {
  const explainUnknown = explainJobField(findings);
  const sound = soundBody(JobCreate, body, { findings, explainUnknown, example: '{"task": "echo", "payload": {}}' });
  return findings.judge(() => specOf(sound, context, findings));
}

function specOf(given: Partial<JobCreate>, context: RequestContext, findings: Findings): JobSpec {
  const sound = withDefaults(given, context.defaultsOf?.(given.task ?? ""), findings);
  const { task } = sound;
  const { now, current, catchupWindowMs } = context;
  const firingFields = readFiring(sound, findings);
  const schedule = scheduleSpec(placedMembers(sound.schedule ?? {}), {
    now,
    findings,
    ...present({ catchupWindowMs: firingFields.catchupWindowMs ?? catchupWindowMs }),
    anyAge: firingFields.misfire === "run_once",
    ...(current && { current: current.schedule }),
  });
  // Manual and dependent jobs may get a payload per run, so template values are checked at run time, not here.
  const hasPayloadPerRun = schedule?.kind === "manual" || schedule?.kind === "after";
  const payload = hasPayloadPerRun ? null : (context.payload ?? { value: sound.payload ?? null });
  const policy = {
    ...runPolicy(sound, findings, context.refuseTarget),
    ...runLimits(sound, payload, findings),
  };
  if (task !== undefined) {
    const check = context.checkPayload;
    if (payload !== null) addPayloadFaults(check, task, payload.value, findings);
    else addAddressFaults(check, task, context.payload === undefined ? sound.payload : context.payload.value, findings);
  }
  findings.raise();
  if (task === undefined || schedule === undefined) throw new Error("A fault of the request was not recorded.");
  const firing = schedule.kind === "at" ? firingFields : ownFiring(firingFields);
  return {
    ...(sound.key !== undefined && { key: sound.key }),
    task,
    queue: sound.queue ?? defaultQueue,
    priority: sound.priority ?? defaultPriority,
    payload: sound.payload ?? null,
    schedule,
    policy,
    ...(Object.keys(firing).length > 0 && { firing }),
    labels: sound.labels ?? {},
    ...(sound.owner !== undefined && { owner: sound.owner }),
  };
}

function placedMembers(schedule: ScheduleRequest): ScheduleDraft {
  const entries = Object.entries(schedule).map(([name, value]) => [name, { value, pointer: `/schedule/${name}` }]);
  return Object.fromEntries(entries) as ScheduleDraft;
}

/** Planned fields. They are refused by name, because ignoring them would change what runs. */
const notYet: ReadonlySet<string> = new Set(["dedupe"]);

const setByServer: ReadonlySet<string> = new Set(
  "created_at description history id last_run log_url next_run next_run_at next_run_local next_run_time pause retry_count run state status updated_at version warnings".split(
    " ",
  ),
);

/** Fields that callers often write one level too high. */
const belongsInSchedule: ReadonlySet<string> = new Set(Object.keys(ScheduleRequest.properties));

/** Explains why a job does not take a field, where the reason is known. */
export function explainJobField(findings: Findings): ExplainUnknown {
  return (pointer, parent, name) => {
    const hint = parent === "" ? hintFor("job", name) : undefined;
    if (hint !== undefined) findings.add(pointer, "unknown_field", `${name} is not a field. ${hint}`);
    else if (parent === "" && notYet.has(name)) {
      findings.add(pointer, "not_supported_yet", `This version does not support ${name}. Leave it out.`);
    } else if (parent === "" && setByServer.has(name)) {
      findings.add(pointer, "unknown_field", `The server sets ${name}. Leave it out.`);
    } else if (parent === "" && belongsInSchedule.has(name)) {
      findings.add(pointer, "unknown_field", `${name} belongs into schedule: {"schedule": {"${name}": …}}.`);
    } else return false;
    return true;
  };
}

export function readJobBatch(body: unknown): readonly unknown[] {
  return readBatch(body, {
    name: "jobs",
    example: '{"jobs": [{"task": "echo"}]}',
    maxItems: limits.batch,
    more: "Send several calls.",
  });
}
