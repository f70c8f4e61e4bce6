import { Type } from "typebox";
import {
  DeadLetterAction,
  DeadLetterActionDone,
  DeadLetterList,
  DeadLetterQuery,
  ErrorGroup,
  ErrorGroupList,
  ErrorGroupQuery,
  RunRepeat,
  RunRetried,
  RunWithRedrives,
} from "../schema/dead-letter.js";
import { Run } from "../schema/run.js";
import { bodyErrors, changeErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const RunRef = Type.Object({ id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });
const GroupRef = Type.Object({ fingerprint: Type.String({ examples: ["9f86d081884c7d65"] }) });

const repeatErrors = [
  ...bodyErrors,
  "overlap_refused",
  "run_live",
  "run_not_repeatable",
  ...changeErrors,
] as const satisfies Operation["errors"];

const actionErrors = [
  ...bodyErrors,
  "instant_invalid",
  "id_invalid",
  "page_token_invalid",
  "not_found",
  ...storeErrors,
] as const satisfies Operation["errors"];

export const retryRun = {
  method: "POST",
  path: "/v1/runs/{id}:retry",
  aliases: [
    { path: "/runs/{id}:retry" },
    { path: "/runs/{id}/retry" },
    { path: "/v1/runs/{id}/retry" },
    { path: "/v1/dead-letters/{id}:redrive" },
  ],
  tag: "Dead letters",
  summary: "Make a run in the place of one that failed",
  description:
    "The new run has an id of its own and the nominal time, payload, queue, priority and labels of the first, under the policies that " +
    "its job has now; its trigger names the first. A run is retried once: asked again, the answer is the same run. The overlap policy " +
    "is followed unless force is said.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  body: RunRepeat,
  bodyOptional: true,
  answers: {
    200: { description: "The run that had been made before", schema: RunRetried },
    201: { description: "The new run", schema: RunRetried, headers: { Location: "Where the run is" } },
  },
  errors: [...repeatErrors, "run_not_failed"],
} as const satisfies Operation;

export const replayRun = {
  method: "POST",
  path: "/v1/runs/{id}:replay",
  aliases: [{ path: "/runs/{id}:replay" }, { path: "/runs/{id}/replay" }, { path: "/v1/runs/{id}/replay" }],
  tag: "Dead letters",
  summary: "Make another run like one that has ended",
  description: "Every call makes one, however the first ended. Otherwise as a retry.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  body: RunRepeat,
  bodyOptional: true,
  answers: { 201: { description: "The new run", schema: Run, headers: { Location: "Where the run is" } } },
  errors: repeatErrors,
} as const satisfies Operation;

export const listDeadLetters = {
  method: "GET",
  path: "/v1/dead-letters",
  tag: "Dead letters",
  summary: "List runs that failed for good, newest first",
  description: "Those that were retried or discarded are no longer among them.",
  permission: "runs:read",
  rateClass: "read",
  query: DeadLetterQuery,
  answers: { 200: { description: "One page", schema: DeadLetterList } },
  errors: [...queryErrors, "instant_invalid", "id_invalid", "page_token_invalid", "not_found", ...storeErrors],
} as const satisfies Operation;

export const redriveDeadLetters = {
  method: "POST",
  path: "/v1/dead-letters:redrive",
  tag: "Dead letters",
  summary: "Retry dead letters by filter",
  description: "One page of them, each by itself: what cannot be retried stays as it is and does not stop the others.",
  permission: "runs:write",
  rateClass: "bulk",
  body: DeadLetterAction,
  bodyOptional: true,
  answers: { 200: { description: "What became of each", schema: DeadLetterActionDone } },
  errors: actionErrors,
} as const satisfies Operation;

export const discardDeadLetters = {
  method: "POST",
  path: "/v1/dead-letters:discard",
  tag: "Dead letters",
  summary: "Discard dead letters by filter",
  description: "One page of them. The runs stay in history; a retry undoes it.",
  permission: "runs:write",
  rateClass: "bulk",
  body: DeadLetterAction,
  bodyOptional: true,
  answers: { 200: { description: "What became of each", schema: DeadLetterActionDone } },
  errors: actionErrors,
} as const satisfies Operation;

export const getDeadLetter = {
  method: "GET",
  path: "/v1/dead-letters/{id}",
  tag: "Dead letters",
  summary: "Get a run that failed, with what was done about it",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  answers: { 200: { description: "The run", schema: RunWithRedrives } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const discardDeadLetter = {
  method: "POST",
  path: "/v1/dead-letters/{id}:discard",
  aliases: [{ path: "/v1/dead-letters/{id}/discard" }],
  tag: "Dead letters",
  summary: "Discard a dead letter",
  description: "The run stays in history; a retry undoes it.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  answers: { 204: { description: "It is no longer listed" } },
  errors: [...bodyErrors, "not_found", "run_not_failed", ...storeErrors],
} as const satisfies Operation;

export const listErrorGroups = {
  method: "GET",
  path: "/v1/error-groups",
  tag: "Error groups",
  summary: "List the kinds of errors, the latest first",
  description:
    "Errors that differ only in numbers, ids, quoted words, addresses and paths, and that were thrown in the same place, are of one kind.",
  permission: "runs:read",
  rateClass: "read",
  query: ErrorGroupQuery,
  answers: { 200: { description: "One page", schema: ErrorGroupList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getErrorGroup = {
  method: "GET",
  path: "/v1/error-groups/{fingerprint}",
  tag: "Error groups",
  summary: "Get a kind of error",
  permission: "runs:read",
  rateClass: "read",
  params: GroupRef,
  answers: { 200: { description: "The kind", schema: ErrorGroup } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;
