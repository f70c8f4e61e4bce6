import { isObject, type JobSpec, ownFiring, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { keyPattern, limits } from "../bounds.js";
import type { ExplainUnknown } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { readBatch, soundBody } from "../check/read-body.js";
import {
  Count,
  CronText,
  BatchOf,
  described,
  LocalInstantText,
  NameText,
  object,
  OwnerName,
  type Placed,
  Text,
  TimeZoneText,
  WholeNumber,
} from "../fields.js";
import { definitionErrors, type Operation, singleAnswer, storeErrors, writeErrors } from "../operation.js";
import { atMostOne, type Condition, exactlyOne, ifGiven, ifNoneGiven, type MemberRules, without } from "../rules.js";
import { TargetUrl } from "./end-callback.js";
import { firingRequest, readFiring } from "./firing-policy.js";
import {
  companions,
  isCompanion,
  type ScheduleDraft,
  type ScheduleKind,
  scheduleKinds,
  ScheduleRequest,
  scheduleSpec,
} from "./job-schedule.js";
import { etag, Job } from "./job.js";
import { Problem } from "./problem.js";
import { addPayloadFaults, type RequestContext, withDefaults } from "./request-context.js";
import { runLimits } from "./run-limits.js";
import {
  type PlacedPolicies,
  policyFields,
  policyRules,
  RetryPolicySpelling,
  runFields,
  runPolicy,
} from "./run-policy.js";

/** Names that other systems have for the same fields: accepted, but never together with the field itself. */
const legacySpellings = {
  job_type: Type.Optional(NameText("Other spelling of task", "echo")),
  schedule_time: Type.Optional(LocalInstantText("Other spelling of schedule.at")),
  cron_expression: Type.Optional(CronText("Other spelling of schedule.cron", "*/15 * * * *")),
  cron: Type.Optional(CronText("Other spelling of schedule.cron", "*/15 * * * *")),
  timezone: Type.Optional(TimeZoneText("Other spelling of schedule.time_zone")),
  retries: Type.Optional(WholeNumber(0, 9_999, "Attempts after the first: retry.max_attempts - 1")),
  retry_policy: Type.Optional(RetryPolicySpelling),
  user_id: Type.Optional(OwnerName("Other spelling of owner")),
  callback_url: Type.Optional(
    described(TargetUrl, "Other spelling of callbacks: every end of a run, with its output, is posted there"),
  ),
};

/** The fields of a job, without the spellings of other systems. */
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

const topCron = ["cron", "cron_expression"];

/** Fields that go with a kind of schedule, where that kind is given under another spelling. */
const scheduleOf = (kind: ScheduleKind): Condition => ({
  properties: { schedule: { propertyNames: { enum: companions[kind] } } },
});

/** A schedule of a request that names its kind, or nothing: {} fires once, immediately. */
const kindInSchedule: Condition = {
  properties: { schedule: { anyOf: [{ maxProperties: 0 }, ...scheduleKinds.map((kind) => ({ required: [kind] }))] } },
};

const zonedKinds = scheduleKinds.filter((kind) => isCompanion(kind, "time_zone"));

/** No field is given under two spellings, and a schedule has only the fields that go with its kind. */
const spellingRules: readonly Condition[] = [
  atMostOne(["retry", "retry_policy"]),
  atMostOne(["owner", "user_id"]),
  atMostOne(["callbacks", "callback_url"]),
  atMostOne([...topCron, "schedule_time"]),
  ifGiven(topCron, scheduleOf("cron")),
  ifGiven(["schedule_time"], scheduleOf("at")),
  ifNoneGiven([...topCron, "schedule_time"], kindInSchedule),
  ifGiven(["timezone"], {
    properties: { schedule: { not: { required: ["time_zone"] } } },
    anyOf: [
      ...[...topCron, "schedule_time"].map((name) => ({ required: [name] })),
      { properties: { schedule: { anyOf: zonedKinds.map((kind) => ({ required: [kind] })) } }, required: ["schedule"] },
    ],
  }),
  ifGiven(["retries"], {
    properties: { retry: without(["max_attempts"]), retry_policy: without(["max_attempts", "max_retries"]) },
  }),
];

const jobRules = {
  allOf: [...policyRules.allOf, ...spellingRules],
  "x-carillon-rules": [
    ...policyRules.rules,
    { code: "schedule_in_past", rule: "schedule_time lies at most 24 h in the past, unless misfire is run_once" },
    { code: "instant_invalid", rule: "Without an offset, schedule_time needs timezone" },
  ],
} as const satisfies MemberRules;

const jobRequestFields = { ...jobFields, ...legacySpellings };

export const JobCreate = object("JobCreate", jobRequestFields, {
  description: "task (or job_type) is required. Without a schedule the job runs once, immediately.",
  examples: [
    {
      task: "echo",
      key: "nightly-report",
      payload: { hello: "world" },
      schedule: { cron: "0 9 * * MON-FRI", time_zone: "Europe/Paris" },
    },
  ],
  ...exactlyOne(["task", "job_type"]),
  ...jobRules,
});
export type JobCreate = Static<typeof JobCreate>;

/** The same without a task, which a preview does not need. */
export const JobPreviewRequest = object("JobPreviewRequest", jobRequestFields, {
  description: "The body that creates a job; task may be left out.",
  examples: [{ schedule: { cron: "0 9 * * MON-FRI", time_zone: "Europe/Paris" } }],
  ...jobRules,
  allOf: [...jobRules.allOf, atMostOne(["task", "job_type"])],
});

export const legacyFieldNames: readonly string[] = Object.keys(legacySpellings);

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
});
export type JobBatchCreated = Static<typeof JobBatchCreated>;

export const createJob = {
  method: "POST",
  path: "/v1/jobs",
  aliases: [{ path: "/jobs" }, { path: "/task", legacySpelling: true }, { path: "/v1/task", legacySpelling: true }],
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
  const explainUnknown = explainJobField(findings);
  const sound = soundBody(JobCreate, body, { findings, explainUnknown, example: '{"task": "echo", "payload": {}}' });
  return findings.judge(() => specOf(body, sound, context, findings));
}

function specOf(body: unknown, given: JobCreate, context: RequestContext, findings: Findings): JobRequest {
  const sound = withDefaults(given, context.defaultsOf?.(given.task ?? given.job_type ?? ""), findings);
  const own = readSpellings(sound, findings);
  if (isObject(body) && !("task" in body || "job_type" in body)) {
    findings.add("/task", "field_missing", 'task is required: the name of the task to run, such as "echo".');
  }
  const { now, current, catchupWindowMs } = context;
  const firingFields = readFiring(sound, findings);
  const schedule = scheduleSpec(own.schedule, {
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
    ...runPolicy(own, sound, findings, context.refuseTarget),
    ...runLimits(sound, payload, findings),
  };
  if (payload !== null && own.task !== undefined)
    addPayloadFaults(context.checkPayload, own.task.value, payload.value, findings);
  findings.raise();
  if (own.task === undefined || schedule === undefined) throw new Error("A fault of the request was not recorded.");
  const firing = schedule.kind === "at" ? firingFields : ownFiring(firingFields);
  const spec: JobSpec = {
    ...(sound.key !== undefined && { key: sound.key }),
    task: own.task.value,
    queue: sound.queue ?? defaultQueue,
    priority: sound.priority ?? defaultPriority,
    payload: sound.payload ?? null,
    schedule,
    policy,
    ...(Object.keys(firing).length > 0 && { firing }),
    labels: sound.labels ?? {},
    ...(own.owner && { owner: own.owner.value }),
  };
  return { spec, hasLegacySpelling: hasLegacySpelling(body) };
}

/** Whether the caller used names of another system. */
export function hasLegacySpelling(body: unknown): boolean {
  return isObject(body) && legacyFieldNames.some((name) => name in body);
}

/** The fields with more than one spelling, each with the place where the caller wrote it. */
interface PlacedFields extends PlacedPolicies {
  readonly task: Placed<string> | undefined;
  readonly owner: Placed<string> | undefined;
  readonly schedule: ScheduleDraft;
}

/** Finds each field under any of its spellings; two spellings of one field at once are refused. */
function readSpellings(body: JobCreate, findings: Findings): PlacedFields {
  const one = <Value>(...candidates: readonly (Placed<Value> | undefined)[]): Placed<Value> | undefined => {
    const [first, second] = candidates.filter((candidate) => candidate !== undefined);
    if (first !== undefined && second !== undefined) {
      findings.add(second.pointer, "field_invalid", `Means the same as ${first.pointer}. Send only one of them.`);
    }
    return first;
  };
  const retry = one<RetryPolicySpelling>(placed(body.retry, "/retry"), placed(body.retry_policy, "/retry_policy"));
  return {
    task: one(placed(body.task, "/task"), placed(body.job_type, "/job_type")),
    owner: one(placed(body.owner, "/owner"), placed(body.user_id, "/user_id")),
    callbacks: one(
      placed(body.callbacks, "/callbacks"),
      placed(body.callback_url === undefined ? undefined : everyEndTo(body.callback_url), "/callback_url"),
    ),
    retry,
    maxAttempts: one(
      retry && placed(retry.value.max_attempts, `${retry.pointer}/max_attempts`),
      retry && oneMore(retry.value.max_retries, `${retry.pointer}/max_retries`),
      oneMore(body.retries, "/retries"),
    ),
    schedule: {
      ...placedMembers(body.schedule ?? {}),
      ...defined(
        "cron",
        one(
          placed(body.schedule?.cron, "/schedule/cron"),
          placed(body.cron, "/cron"),
          placed(body.cron_expression, "/cron_expression"),
        ),
      ),
      ...defined("at", one(placed(body.schedule?.at, "/schedule/at"), placed(body.schedule_time, "/schedule_time"))),
      ...defined(
        "time_zone",
        one(placed(body.schedule?.time_zone, "/schedule/time_zone"), placed(body.timezone, "/timezone")),
      ),
    },
  };
}

function placed<Value>(value: Value | undefined, pointer: string): Placed<Value> | undefined {
  return value === undefined ? undefined : { value, pointer };
}

function everyEndTo(url: string): NonNullable<JobCreate["callbacks"]> {
  return [{ url, include: ["output", "error"] }];
}

/** Other systems count retries, which are the attempts after the first. */
function oneMore(retries: number | undefined, pointer: string): Placed<number> | undefined {
  return retries === undefined ? undefined : { value: retries + 1, pointer };
}

function defined<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}

function placedMembers(schedule: ScheduleRequest): ScheduleDraft {
  const entries = Object.entries(schedule).map(([name, value]) => [name, { value, pointer: `/schedule/${name}` }]);
  return Object.fromEntries(entries) as ScheduleDraft;
}

/** Planned fields. They are refused by name, because ignoring them would change what runs. */
const notYet: ReadonlySet<string> = new Set(["dedupe"]);

const setByServer: ReadonlySet<string> = new Set(
  "created_at description id job_id last_run next_run_at next_run_local pause run state status task_id updated_at version warnings".split(
    " ",
  ),
);

/** Fields that callers often write one level too high. */
const belongsInSchedule: ReadonlySet<string> = new Set(Object.keys(ScheduleRequest.properties));

/** Explains why a job does not take a field, where the reason is known. */
export function explainJobField(findings: Findings): ExplainUnknown {
  return (pointer, parent, name) => {
    if (parent === "" && notYet.has(name)) {
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
  return readBatch(body, "jobs", '{"jobs": [{"task": "echo"}]}');
}
