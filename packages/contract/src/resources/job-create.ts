import { type DurationMs, type JobSpec, ownFiring } from "@carillon/core";
import { type Static, Type } from "typebox";
import { keyPattern, limits } from "../bounds.js";
import { checkValue, type ExplainUnknown, isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/json-value.js";
import { Count, InstantText, NameText, OwnerName, type Placed, closed, object } from "../fields.js";
import { definitionErrors, type Operation, storeErrors, writeErrors } from "../operation.js";
import { TargetUrl } from "./end-callback.js";
import { firingOf, firingRequest } from "./firing-policy.js";
import { type ScheduleDraft, ScheduleRequest, scheduleSpec } from "./job-schedule.js";
import { etag, Job } from "./job.js";
import { Problem } from "./problem.js";
import { addPayloadFaults, type RequestContext } from "./request-context.js";
import { runLimits } from "./run-limits.js";
import { type PlacedPolicies, policyFields, RetryPolicySpelling, runFields, runPolicy } from "./run-policy.js";
import { withDefaults } from "./task-defaults.js";

const Text = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description });

/** What other systems call our fields; accepted beside them, never both for one thing. */
const legacySpellings = {
  job_type: Type.Optional(NameText("Other spelling of task", "echo")),
  schedule_time: Type.Optional(InstantText("Other spelling of schedule.at")),
  cron_expression: Type.Optional(Text("Other spelling of schedule.cron", limits.cronLength)),
  cron: Type.Optional(Text("Other spelling of schedule.cron", limits.cronLength)),
  timezone: Type.Optional(Text("Other spelling of schedule.time_zone", limits.parsedTextLength)),
  retries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 9_999, description: "Attempts after the first: retry.max_attempts - 1" }),
  ),
  retry_policy: Type.Optional(RetryPolicySpelling),
  user_id: Type.Optional(OwnerName("Other spelling of owner")),
  callback_url: Type.Optional(
    Type.Unsafe<string>({
      ...TargetUrl,
      description: "Other spelling of callbacks: told of every end, with the output",
    }),
  ),
};

export const JobCreate = object(
  "JobCreate",
  {
    task: runFields.task,
    payload: runFields.payload,
    schedule: Type.Optional(ScheduleRequest),
    key: Type.Optional(
      Type.String({
        pattern: keyPattern,
        description: "Your own name for the job, unique in the namespace",
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
    ...legacySpellings,
  },
  {
    description: "task (or job_type) is required. Without a schedule the job runs once, at once.",
    examples: [{ task: "echo", payload: { hello: "world" } }],
  },
);
export type JobCreate = Static<typeof JobCreate>;

/** The fields of other systems, by their names. */
export const legacyFieldNames: readonly string[] = Object.keys(legacySpellings);

export const JobBatch = object(
  "JobBatch",
  { jobs: Type.Array(JobCreate, { maxItems: limits.batch, description: "Each as in creating one job" }) },
  {
    description: `Up to ${limits.batch} jobs. Each is created or refused by itself.`,
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
    id: Type.Optional(Type.String({ description: "Of the job that was created" })),
    problem: Type.Optional(Type.Unsafe<Problem>({ ...Problem, description: "Why none was created" })),
  },
  { description: "Either id or problem" },
);
export type BatchResult = Static<typeof BatchResult>;

export const JobBatchCreated = object("JobBatchCreated", {
  results: Type.Array(BatchResult, { description: "In the order of the request" }),
  created: Count("How many jobs were created"),
  refused: Count("How many were not"),
});
export type JobBatchCreated = Static<typeof JobBatchCreated>;

export const createJob = {
  method: "POST",
  path: "/v1/jobs",
  aliases: [{ path: "/jobs" }, { path: "/task", legacySpelling: true }, { path: "/v1/task", legacySpelling: true }],
  tag: "Jobs",
  client: "jobs.create",
  summary: "Create a job",
  description: "Durable when it is answered. Without a schedule the job runs once, at once.",
  permission: "jobs:write",
  rateClass: "write",
  body: JobCreate,
  answers: {
    201: { description: "The job", schema: Job, headers: { Location: "Where the job is", ETag: etag } },
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
    "Each job is created or refused by itself, in one call that costs far less than many. Those that were created are durable when it is " +
    "answered.",
  permission: "jobs:write",
  rateClass: "bulk",
  body: JobBatch,
  answers: { 200: { description: "What became of each", schema: JobBatchCreated } },
  errors: writeErrors,
} as const satisfies Operation;

export interface JobRequest {
  readonly spec: JobSpec;
  /** The caller used another system's names: the answer then also carries them. */
  readonly hasLegacySpelling: boolean;
}

const defaultCatchupWindowMs: DurationMs = 86_400_000;

export const defaultQueue = "default";

export const defaultPriority = 4;

/**
 * Turns the body of a request, in our spelling or another one, into a job. `now` is the scheduler's clock: delays count
 * from it. Throws one CarillonError that names every fault.
 */
export function normaliseJobRequest(body: unknown, moment: RequestContext): JobRequest {
  const findings = new Findings();
  const sound = checkedBody(body, findings);
  return findings.judge(() => judged(body, sound, moment, findings));
}

function judged(body: unknown, given: JobCreate, moment: RequestContext, findings: Findings): JobRequest {
  const sound = withDefaults(given, moment.defaultsOf?.(given.task ?? given.job_type ?? ""), findings);
  const own = readSpellings(sound, findings);
  if (isObject(body) && !("task" in body || "job_type" in body)) {
    findings.add("/task", "field_missing", 'task is required: the name of what a worker runs, such as "echo"');
  }
  const { now, current, catchupWindowMs = defaultCatchupWindowMs } = moment;
  const said = firingOf(sound, findings);
  const schedule = scheduleSpec(own.schedule, {
    now,
    findings,
    catchupWindowMs: said.catchupWindowMs ?? catchupWindowMs,
    anyAge: said.misfire === "run_once",
    ...(current && { current: current.schedule }),
  });
  // Who is asked for by hand, or by others, may bring a payload of its own: what its keys need is looked for then.
  const isAsked = schedule?.kind === "manual" || schedule?.kind === "after";
  const payload = isAsked ? null : (moment.payload ?? { value: sound.payload ?? null });
  const policy = {
    ...runPolicy(own, sound, findings, moment.refuseTarget),
    ...runLimits(sound, payload, findings),
  };
  if (payload !== null && own.task !== undefined)
    addPayloadFaults(moment.checkPayload, own.task.value, payload.value, findings);
  findings.raise();
  if (own.task === undefined || schedule === undefined) throw new Error("a fault of the request was not recorded");
  const firing = schedule.kind === "at" ? said : ownFiring(said);
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

/** Whether the caller used another system's names. */
export function hasLegacySpelling(body: unknown): boolean {
  return isObject(body) && legacyFieldNames.some((name) => name in body);
}

function checkedBody(body: unknown, findings: Findings): JobCreate {
  if (!isObject(body)) {
    findings.add("", "field_invalid", 'the body must be a JSON object such as {"task": "echo", "payload": {}}');
  }
  if (!checkJsonValue(body, findings)) findings.raise();
  const explainUnknown = explainJobField(findings);
  return checkValue(JobCreate, isObject(body) ? body : {}, { findings, explainUnknown }) ?? {};
}

/** The fields that have more than one spelling, each found once. */
interface PlacedFields extends PlacedPolicies {
  readonly task: Placed<string> | undefined;
  readonly owner: Placed<string> | undefined;
  readonly schedule: ScheduleDraft;
}

/** Brings what users of other systems write into our own fields; two spellings of one thing at once are refused. */
function readSpellings(body: JobCreate, findings: Findings): PlacedFields {
  const one = <Value>(...candidates: readonly (Placed<Value> | undefined)[]): Placed<Value> | undefined => {
    const [first, second] = candidates.filter((candidate) => candidate !== undefined);
    if (first !== undefined && second !== undefined) {
      findings.add(second.pointer, "field_invalid", `says the same as ${first.pointer}; send one of them`);
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

/** Other systems count the attempts after the first. */
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

/** The published form, with the jobs as yet unread: each is judged by itself, so that one that is wrong is not the others' fault. */
const JobsEnvelope = closed({ jobs: Type.Array(Type.Unknown(), { maxItems: limits.batch }) });

export function readJobBatch(body: unknown): readonly unknown[] {
  const findings = new Findings();
  if (!isObject(body))
    findings.add("", "field_invalid", 'the body must be a JSON object such as {"jobs": [{"task": "echo"}]}');
  const { jobs = [] } = (isObject(body) && checkValue(JobsEnvelope, body, { findings })) || {};
  if (findings.size === 0 && jobs.length === 0) {
    findings.add("/jobs", "field_invalid", "the list is empty; send at least one job");
  }
  findings.raise();
  return jobs;
}
