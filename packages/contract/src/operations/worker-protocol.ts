import { Type } from "typebox";
import { workerLimits } from "../schema/limits.js";
import { WorkerNoted, WorkerNotes } from "../schema/worker-notes.js";
import {
  WorkerHeard,
  WorkerHeartbeat,
  WorkerPoll,
  WorkerPolled,
  WorkerRegister,
  WorkerRegistered,
  WorkerRelease,
} from "../schema/worker-protocol.js";
import { bodyErrors } from "./job-errors.js";
import { storeErrors, type Operation } from "./operation.js";

export const WorkerRef = Type.Object({ id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

const shared = {
  method: "POST",
  tag: "Worker protocol",
  permission: "workers:serve",
  rateClass: "worker",
} as const;

const errors = [...bodyErrors, "not_found", "session_lost", ...storeErrors] as const;

export const registerWorker = {
  ...shared,
  path: "/v1/workers:register",
  summary: "Register a worker",
  description: "Begins a session. It lasts until it is closed, or until the worker is silent for too long.",
  body: WorkerRegister,
  answers: { 201: { description: "The session", schema: WorkerRegistered } },
  errors: [...bodyErrors, "address_refused", "not_found", ...storeErrors],
} as const satisfies Operation;

export const pollWorker = {
  ...shared,
  path: "/v1/workers/{id}:poll",
  summary: "Bring results, take runs",
  description:
    "Waits until there is something to tell; a newer poll that waits ends the older one. A poll that brings results is answered as " +
    "soon as they are stored. Nothing is lost or done twice when an answer does not arrive: results may be sent again, and runs " +
    "that did not arrive are told again.",
  params: WorkerRef,
  body: WorkerPoll,
  bodyOptional: true,
  bodyBytes: workerLimits.pollBytes,
  waits: true,
  answers: { 200: { description: "What there is to do", schema: WorkerPolled } },
  errors,
} as const satisfies Operation;

export const heartbeatWorker = {
  ...shared,
  path: "/v1/workers/{id}:heartbeat",
  summary: "Say that a worker lives",
  description: "Any node takes it. A poll counts when it begins, neither while it waits nor when it is answered.",
  params: WorkerRef,
  body: WorkerHeartbeat,
  bodyOptional: true,
  bodyBytes: workerLimits.claimsBytes,
  answers: { 200: { description: "Heard", schema: WorkerHeard } },
  errors,
} as const satisfies Operation;

export const noteRuns = {
  ...shared,
  path: "/v1/workers/{id}:note",
  summary: "Keep what handlers leave behind, answer what they ask for",
  description:
    "Checkpoints, progress, lines of log, results of steps. Every note may come again when its answer did not arrive. A claim that " +
    "is over is an answer.",
  params: WorkerRef,
  body: WorkerNotes,
  bodyBytes: workerLimits.noteBytes,
  answers: { 200: { description: "What became of each", schema: WorkerNoted } },
  errors,
} as const satisfies Operation;

export const releaseRuns = {
  ...shared,
  path: "/v1/workers/{id}:release",
  summary: "Give runs back",
  description: "Others get them, and nothing was spent. Claims that are over are passed over.",
  params: WorkerRef,
  body: WorkerRelease,
  bodyBytes: workerLimits.claimsBytes,
  answers: { 204: { description: "Done" } },
  errors,
} as const satisfies Operation;

export const closeWorker = {
  ...shared,
  path: "/v1/workers/{id}:close",
  summary: "End a worker's session",
  description: "What it still holds is given to others.",
  params: WorkerRef,
  answers: { 204: { description: "Done, now or before" } },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;
