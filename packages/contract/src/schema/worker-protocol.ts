import { Type, type Static } from "typebox";
import {
  limits,
  namePattern,
  namespacesPattern,
  printablePattern,
  queuePattern,
  runRefPattern,
  uuidPattern,
  workerLimits,
} from "./limits.js";
import { Count, Labels, Milliseconds } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";
import { TaskDefaults } from "./task-defaults.js";

/** Runs go by their plain UUID here: a worker handles thousands a second, and shows an id in its other form where somebody asks. */
const RunUuid = Type.String({
  pattern: uuidPattern,
  description: "The run's UUID in lower case",
  examples: ["019a7f71-ece5-7060-8d10-5b3a9c36e0ad"],
});
/** As a worker names a run: by what it was told, or as everywhere else. */
export const RunRef = Type.String({
  pattern: runRefPattern,
  description: "The run's UUID as it was told (answers always have it), or its id: run_ and 26 letters and digits",
  examples: ["019a7f71-ece5-7060-8d10-5b3a9c36e0ad", "run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
});
export const Fence = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Names the claim; grows with every claim of the run",
});
export const AgoMs = (description: string) => Type.Integer({ minimum: 0, maximum: workerLimits.agoMs, description });

/** A run under one claim. */
export const HeldRun = Type.Object(
  { run_id: RunRef, fence: Fence },
  { title: "HeldRun", additionalProperties: false, description: "A run under one claim" },
);

const HeldRuns = (description: string) => Type.Array(HeldRun, { maxItems: workerLimits.runs, description });

const TaskName = Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern });
const byTask = { type: "object", propertyNames: TaskName, maxProperties: workerLimits.tasks };

export const WorkerRegister = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      pattern: printablePattern,
      description: "For people; need not be unique",
      examples: ["mail-1"],
    }),
    queues: Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: queuePattern }), {
      maxItems: workerLimits.queues,
      description: "The queues that it serves; * alone stands for every queue",
      examples: [["default", "mail"]],
    }),
    namespaces: Type.Optional(
      Type.Array(Type.String({ pattern: namespacesPattern }), {
        maxItems: workerLimits.namespaces,
        description:
          "The namespaces whose runs it takes, each in its turn; * alone stands for every one; left out: its own",
        examples: [["billing", "mail"]],
      }),
    ),
    tasks: Type.Array(TaskName, {
      maxItems: workerLimits.tasks,
      description: "The tasks that it has",
      examples: [["email.welcome"]],
    }),
    labels: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        ...Labels,
        description: "What it says of itself; runs may require some of it",
      }),
    ),
    versions: Type.Optional(
      Type.Unsafe<Record<string, string[]>>({
        ...byTask,
        additionalProperties: Type.Array(
          Type.String({ minLength: 1, maxLength: limits.labelValueLength, pattern: printablePattern }),
          { maxItems: workerLimits.versions },
        ),
        description: "By task, the versions of it that it has; runs that ask for one go only there",
        examples: [{ "email.welcome": ["2", "3"] }],
      }),
    ),
    weights: Type.Optional(
      Type.Unsafe<Record<string, number>>({
        ...byTask,
        additionalProperties: Type.Integer({ minimum: 1, maximum: workerLimits.slots }),
        description: "By task, how many slots a run takes; 1 for those that are not named, all slots at the most",
        examples: [{ "video.encode": 4 }],
      }),
    ),
    defaults: Type.Optional(
      Type.Unsafe<Record<string, TaskDefaults>>({
        ...byTask,
        additionalProperties: TaskDefaults,
        description:
          "By task, what its runs are like where a request for a run or a job does not say it. The last registration counts; of a task " +
          "that is not named it says nothing, and {} that it has no defaults",
        examples: [{ "email.welcome": { timeout: "2m", retry: { max_attempts: 5 } } }],
      }),
    ),
    spot: Type.Optional(
      Type.Boolean({ description: "It may go at any time: it gets only runs with allow_spot. False by default" }),
    ),
    slots: Type.Integer({ minimum: 1, maximum: workerLimits.slots, description: "Slots: runs of weight 1 at a time" }),
    ahead: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: workerLimits.ahead,
        description: "Runs that may wait at the worker beyond its slots; left out: as many as it does in 50 ms",
      }),
    ),
  },
  { title: "WorkerRegister", additionalProperties: false },
);

export const WorkerRegistered = Type.Object(
  {
    id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    heartbeat_ms: Milliseconds("How often it should be heard of"),
    idle_heartbeat_ms: Type.Optional(
      Milliseconds("How often while it has no runs; left out by servers of older versions: as often as with some"),
    ),
    silence_ms: Milliseconds("A worker that is silent for so long is taken for dead, and others get its runs"),
    poll_ms: Milliseconds("The longest wait of a poll"),
  },
  { title: "WorkerRegistered", additionalProperties: false },
);

const FailedWith = Type.Object(
  {
    type: Type.String({ maxLength: limits.nameLength }),
    message: Type.String({ maxLength: workerLimits.errorLength }),
    stack: Type.Optional(Type.String({ maxLength: workerLimits.errorLength })),
    retryable: Type.Boolean(),
  },
  { title: "FailedWith", additionalProperties: false },
);

export const WorkerResult = Type.Object(
  {
    run_id: RunRef,
    fence: Fence,
    started_ago_ms: AgoMs("How long ago its handler was called"),
    outcome: stringEnum(["succeeded", "failed", "timeout", "cancelled", "snoozed", "waiting"]),
    output: Type.Optional(Type.Unknown({ description: "Of a success; any JSON" })),
    error: Type.Optional(FailedWith),
    retry_after_ms: Type.Optional(AgoMs("Of a failure: no earlier try")),
    delay_ms: Type.Optional(AgoMs("Of a snooze: call again after this time")),
    wait_ms: Type.Optional(AgoMs("Of one that waits for a callback: no longer than this")),
  },
  { title: "WorkerResult", additionalProperties: false, description: "How a run ended on a worker" },
);

export const WorkerPoll = Type.Object(
  {
    number: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Numbers the polls of a worker that has more than one under way",
      }),
    ),
    heard: Type.Optional(
      Count("All polls up to this number are over; without `held` it also says that each was answered"),
    ),
    held: Type.Optional(HeldRuns("Every claim that it has. What it was told and does not name is told again")),
    results: Type.Optional(
      Type.Array(WorkerResult, { maxItems: workerLimits.runs, description: "Runs that ended since" }),
    ),
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: workerLimits.pollMs,
        default: workerLimits.pollMs,
        description: "How long to wait for runs. A poll with results is answered when they are stored",
      }),
    ),
    draining: Type.Optional(Type.Boolean({ description: "It takes nothing more; what is on its way still comes" })),
  },
  { title: "WorkerPoll", additionalProperties: false },
);

const Assigned = Type.Object(
  {
    run_id: RunUuid,
    job_id: nullable(Type.String({ description: "The job's UUID" })),
    task: Type.String(),
    queue: Type.String(),
    payload: Type.Unknown(),
    attempt: Type.Integer(),
    max_attempts: Type.Integer(),
    at_most_once: Type.Boolean({ description: "Once begun, nobody may begin it again" }),
    fence: Fence,
    timeout_ms: nullable(Milliseconds("How long its handler may take")),
    scheduled_for: Type.Number({ description: "Milliseconds since 1970" }),
    run_at: Type.Number({ description: "Milliseconds since 1970" }),
    traceparent: Type.Optional(
      Type.String({ description: "Where the trace of whoever asked for the run was left, by W3C Trace Context" }),
    ),
    tracestate: Type.Optional(Type.String({ description: "What vendors add to that" })),
  },
  { title: "AssignedRun", additionalProperties: false },
);

const Stop = Type.Object(
  { run_id: RunUuid, fence: Fence, reason: Type.String() },
  { title: "StopOrder", additionalProperties: false, description: "A run that its worker is to stop" },
);

export const WorkerPolled = Type.Object(
  {
    runs: Type.Array(Assigned, { description: "To be done. One that it has under the same fence is to be left alone" }),
    refused: Type.Array(RunUuid, { description: "Runs whose result came too late: somebody else has them" }),
    stops: Type.Array(Stop),
    lost: Type.Array(HeldRun, { description: "Claims that it named and that are over" }),
    drain: Type.Boolean({ description: "It is to end: take nothing more, end or give back what it has, close" }),
    leave: Type.Boolean({ description: "With drain: its machine goes, it is to give back what it has at once" }),
  },
  { title: "WorkerPolled", additionalProperties: false },
);

export const WorkerHeartbeat = Type.Object(
  {
    lag_ms: Type.Optional(AgoMs("How long the worker's main loop has been busy with one thing")),
    held: Type.Optional(HeldRuns("Every claim that it has, to hear which of them are over")),
    started: Type.Optional(
      Type.Array(
        Type.Object(
          { run_id: RunRef, fence: Fence, ago_ms: AgoMs("How long ago its handler was called") },
          { additionalProperties: false },
        ),
        { maxItems: workerLimits.runs, description: "Runs that it has begun: only the loss of such a run counts" },
      ),
    ),
  },
  { title: "WorkerHeartbeat", additionalProperties: false },
);

export const WorkerHeard = Type.Object(
  { lost: Type.Array(HeldRun, { description: "Claims that it named and that are over" }) },
  { title: "WorkerHeard", additionalProperties: false },
);

export const WorkerRelease = Type.Object(
  { runs: HeldRuns("Given back, with nothing spent") },
  { title: "WorkerRelease", additionalProperties: false },
);

export type WorkerRegister = Static<typeof WorkerRegister>;
export type WorkerRegistered = Static<typeof WorkerRegistered>;
export type WorkerResult = Static<typeof WorkerResult>;
export type WorkerPoll = Static<typeof WorkerPoll>;
export type WorkerPolled = Static<typeof WorkerPolled>;
export type WorkerHeartbeat = Static<typeof WorkerHeartbeat>;
export type WorkerHeard = Static<typeof WorkerHeard>;
export type WorkerRelease = Static<typeof WorkerRelease>;
export type HeldRun = Static<typeof HeldRun>;
