import { parseId, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import {
  limits,
  namePattern,
  namespacesPattern,
  printablePattern,
  queuePattern,
  runRefPattern,
  uuidPattern,
  workerLimits,
} from "../bounds.js";
import { type Findings, pointerTo } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import { closed, described, Flag, Labels, Milliseconds, object, WholeNumber } from "../fields.js";
import { bodyErrors, type Operation, singleAnswer, storeErrors, writeErrors } from "../operation.js";
import type { RefuseTarget } from "./end-callback.js";
import { checkDefaults, TaskDefaults } from "./request-context.js";
import { policyRules } from "./run-policy.js";
import { WorkerRef } from "./worker.js";

/** The worker protocol names runs by their plain UUID: a worker handles thousands a second, and the other form costs time to write and read. */
export const RunUuid = Type.String({
  pattern: uuidPattern,
  description: "The run's UUID in lower case",
  examples: ["019a7f71-ece5-7060-8d10-5b3a9c36e0ad"],
});

/** A run in a request of a worker. */
export const RunRef = Type.String({
  pattern: runRefPattern,
  description: "The run's UUID, as answers have it, or its id: run_ and 26 letters and digits",
  examples: ["019a7f71-ece5-7060-8d10-5b3a9c36e0ad", "run_01k9zq3v5e0r8t2b7n4m6x1c9d"],
});

export const Fence = WholeNumber(
  0,
  Number.MAX_SAFE_INTEGER,
  "Identifies the claim; increases with every claim of the run",
);

export const AgoMs = (description: string) => Type.Integer({ minimum: 0, maximum: workerLimits.agoMs, description });

/** A run under one claim. */
export const HeldRun = object("HeldRun", { run_id: RunRef, fence: Fence }, { description: "A run under one claim" });
export type HeldRun = Static<typeof HeldRun>;

export const HeldRuns = (description: string) => Type.Array(HeldRun, { maxItems: workerLimits.runs, description });

const TaskName = Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern });
const byTask = { type: "object", propertyNames: TaskName, maxProperties: workerLimits.tasks };

/** * stands for all, so it is alone. */
const starAlone = {
  if: { contains: { const: "*" } },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  then: { maxItems: 1 },
};

export const WorkerRegister = object(
  "WorkerRegister",
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      pattern: printablePattern,
      description: "A name for people, which need not be unique",
      examples: ["mail-1"],
    }),
    queues: Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: queuePattern }), {
      minItems: 1,
      ...starAlone,
      maxItems: workerLimits.queues,
      description: "The queues that it serves; * alone stands for every queue",
      examples: [["default", "mail"]],
    }),
    namespaces: Type.Optional(
      Type.Array(Type.String({ pattern: namespacesPattern }), {
        minItems: 1,
        ...starAlone,
        maxItems: workerLimits.namespaces,
        description: "The namespaces that it serves; * alone stands for every namespace; its own by default",
        examples: [["billing", "mail"]],
      }),
    ),
    tasks: Type.Array(TaskName, {
      minItems: 1,
      maxItems: workerLimits.tasks,
      description: "The tasks that it has handlers for",
      examples: [["email.welcome"]],
    }),
    labels: Type.Optional(described(Labels, "Labels of the worker, which runs may require")),
    versions: Type.Optional(
      Type.Unsafe<Record<string, string[]>>({
        ...byTask,
        additionalProperties: Type.Array(
          Type.String({ minLength: 1, maxLength: limits.labelValueLength, pattern: printablePattern }),
          { maxItems: workerLimits.versions },
        ),
        description: "By task, the versions that it has; a run that requires a version goes only to a worker with it",
        examples: [{ "email.welcome": ["2", "3"] }],
      }),
    ),
    weights: Type.Optional(
      Type.Unsafe<Record<string, number>>({
        ...byTask,
        additionalProperties: Type.Integer({ minimum: 1, maximum: workerLimits.slots }),
        description: "By task, the number of slots that a run takes; 1 by default, at most all slots",
        examples: [{ "video.encode": 4 }],
      }),
    ),
    defaults: Type.Optional(
      Type.Unsafe<Record<string, TaskDefaults>>({
        ...byTask,
        additionalProperties: TaskDefaults,
        description:
          "By task, the defaults for fields that a request for a run or a job leaves out. The last registration of a task counts; " +
          "a task that is not named keeps its defaults, and {} removes them",
        examples: [{ "email.welcome": { timeout: "2m", retry: { max_attempts: 5 } } }],
      }),
    ),
    spot: Flag("Whether it may disappear at any time: it then gets only runs with allow_spot. False by default"),
    slots: WholeNumber(1, workerLimits.slots, "The number of slots: runs of weight 1 at a time"),
    ahead: Type.Optional(
      WholeNumber(
        0,
        workerLimits.ahead,
        "Runs that may wait at the worker beyond its slots; by default as many as it finishes in 50 ms",
      ),
    ),
  },
  {
    "x-carillon-rules": [
      { code: "field_invalid", rule: "versions, weights and defaults name only tasks of the worker" },
      { code: "field_invalid", rule: "A weight is at most the number of slots" },
      ...policyRules.rules,
    ],
  },
);
export type WorkerRegister = Static<typeof WorkerRegister>;

export const WorkerRegistered = object("WorkerRegistered", {
  id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
  heartbeat_ms: Milliseconds("The interval of heartbeats"),
  idle_heartbeat_ms: Type.Optional(
    Milliseconds(
      "The interval of heartbeats while it has no runs; older servers leave it out, and heartbeat_ms applies",
    ),
  ),
  timeout_ms: Milliseconds("A worker without a heartbeat for this time is declared lost, and others get its runs"),
  poll_ms: Milliseconds("The longest wait of a poll"),
});
export type WorkerRegistered = Static<typeof WorkerRegistered>;

export const WorkerHeartbeat = object("WorkerHeartbeat", {
  lag_ms: Type.Optional(AgoMs("How long the worker's event loop has been blocked")),
  held: Type.Optional(HeldRuns("Every claim that it has; the answer names those that have ended")),
  started: Type.Optional(
    Type.Array(closed({ run_id: RunRef, fence: Fence, ago_ms: AgoMs("How long ago its handler was called") }), {
      maxItems: workerLimits.runs,
      description: "Runs that it has started: only for these a lost worker counts as a loss",
    }),
  ),
});
export type WorkerHeartbeat = Static<typeof WorkerHeartbeat>;

export const WorkerHeartbeatAnswer = object("WorkerHeartbeatAnswer", {
  lost: Type.Array(HeldRun, { description: "Claims in the request that have ended" }),
});
export type WorkerHeartbeatAnswer = Static<typeof WorkerHeartbeatAnswer>;

export const WorkerRelease = object("WorkerRelease", {
  runs: HeldRuns("Runs that are given back without counting an attempt"),
});
export type WorkerRelease = Static<typeof WorkerRelease>;

export const workerCall = {
  method: "POST",
  tag: "Worker protocol",
  permission: "workers:serve",
  rateClass: "worker",
} as const;

export const workerCallErrors = [...bodyErrors, "not_found", "session_lost", ...storeErrors] as const;

export const registerWorker = {
  ...workerCall,
  path: "/v1/workers:register",
  summary: "Register a worker",
  description: "Starts a session, which lasts until the worker closes it or sends no heartbeat for too long.",
  body: WorkerRegister,
  answers: { 201: { description: "The session", schema: WorkerRegistered } },
  errors: [...bodyErrors, "address_refused", "not_found", ...storeErrors],
} as const satisfies Operation;

export const heartbeatWorker = {
  ...workerCall,
  path: "/v1/workers/{id}:heartbeat",
  summary: "Send a heartbeat",
  description:
    "Any node accepts it. A poll counts as a heartbeat when it begins, but not while it waits or when it is answered.",
  params: WorkerRef,
  body: WorkerHeartbeat,
  bodyOptional: true,
  bodyBytes: workerLimits.claimsBytes,
  ...singleAnswer(WorkerHeartbeatAnswer, "Recorded", workerCallErrors),
} as const satisfies Operation;

export const releaseRuns = {
  ...workerCall,
  path: "/v1/workers/{id}:release",
  summary: "Release runs",
  description: "Other workers get them, and no attempt is counted. Claims that have ended are ignored.",
  params: WorkerRef,
  body: WorkerRelease,
  bodyBytes: workerLimits.claimsBytes,
  answers: { 204: { description: "Done" } },
  errors: workerCallErrors,
} as const satisfies Operation;

export const closeWorker = {
  ...workerCall,
  path: "/v1/workers/{id}:close",
  summary: "Close a worker's session",
  description: "Other workers get the runs that it still has.",
  params: WorkerRef,
  answers: { 204: { description: "Closed, now or before" } },
  errors: writeErrors,
} as const satisfies Operation;

export interface ClaimName {
  readonly runId: string;
  readonly fence: number;
}

export type HeartbeatBody = ReturnType<typeof readHeartbeat>;

export function readRegistration(body: unknown, refuse?: RefuseTarget): WorkerRegister {
  return readBody(WorkerRegister, body, (given, findings) => {
    const { name = "", namespaces, queues = [], tasks = [], slots = 1 } = given;
    const { ahead, labels, versions, weights, spot, defaults } = given;
    if (queues.length > 1 && queues.includes("*"))
      findings.add("/queues", "field_invalid", "* stands for every queue. Name no other beside it.");
    refuseOtherTasks("/versions", versions, tasks, findings);
    refuseOtherTasks("/weights", weights, tasks, findings);
    refuseOtherTasks("/defaults", defaults, tasks, findings);
    for (const [task, one] of Object.entries(defaults ?? {}))
      findings.attempt(pointerTo("/defaults", task), () => checkDefaults(one, refuse));
    if (namespaces !== undefined && namespaces.length > 1 && namespaces.includes("*"))
      findings.add("/namespaces", "field_invalid", "* stands for every namespace. Name no other beside it.");
    return { name, queues, tasks, slots, ...present({ namespaces, ahead, labels, versions, weights, spot, defaults }) };
  });
}

function refuseOtherTasks(pointer: string, given: object = {}, tasks: readonly string[], findings: Findings): void {
  for (const task of Object.keys(given))
    if (!tasks.includes(task))
      findings.add(pointerTo(pointer, task), "field_invalid", "Must be one of the tasks of the worker.");
}

export function readHeartbeat(body: unknown) {
  return readBody(WorkerHeartbeat, body, ({ held = [], started = [] }) => ({
    held: held.filter(isThere).map(claimName),
    started: started.filter(isThere).map((run) => ({ ...claimName(run), agoMs: run.ago_ms })),
  }));
}

export function readRelease(body: unknown): readonly ClaimName[] {
  return readBody(WorkerRelease, body, ({ runs = [] }) => runs.filter(isThere).map(claimName));
}

/** An item with a fault was recorded and left out. */
export function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

export function claimName({ run_id: named, fence }: HeldRun): ClaimName {
  return { runId: runUuid(named), fence };
}

/** Nearly all are UUIDs already, which need no parsing. */
export function runUuid(named: string): string {
  return named.startsWith("run_") ? parseId("run", named) : named;
}
