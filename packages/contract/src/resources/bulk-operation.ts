import { parseId, parseInstant, parseLabelSelector, parseStatusFilter } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import { Count, nullable, stringEnum, Timestamp, object, present } from "../fields.js";
import { bodyErrors, type Operation, storeErrors, getErrors, listErrors, writeErrors } from "../operation.js";
import { PageQuery, pageOf } from "../paging.js";
import { RunListQuery } from "./run.js";

const bulkActions = ["cancel", "retry", "discard"] as const;

const {
  page_size: _size,
  page_token: _token,
  order_by: _order,
  user_id: _user,
  total: _total,
  payload: _payload,
  ...filters
} = RunListQuery.properties;

export const RunBulk = object(
  "RunBulk",
  {
    action: stringEnum(bulkActions, {
      description:
        "cancel: those that wait end, those that run are asked to stop. retry: a new run in the place of each that failed, once. " +
        "discard: those that failed are no dead letters any more",
    }),
    filter: Type.Optional(
      Type.Object(filters, {
        additionalProperties: false,
        description: "As in the list of runs; an empty one means all that the action can be about",
      }),
    ),
    ids: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.parsedTextLength }), {
        minItems: 1,
        maxItems: limits.batch,
        description: "These runs, instead of a filter",
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: "Only says how many runs it would be" })),
  },
  { examples: [{ action: "retry", filter: { task: "email.welcome", created_after: "2026-11-12T00:00:00Z" } }] },
);
export type RunBulk = Static<typeof RunBulk>;

export const BulkCount = object("BulkCount", {
  count: Count("Runs that it would be about"),
  is_least: Type.Boolean({ description: "There may be more: it was not looked at all of them" }),
  dry_run: Type.Literal(true),
});
export type BulkCount = Static<typeof BulkCount>;

const OperationFailure = object("OperationFailure", { id: Type.String(), code: Type.String(), detail: Type.String() });

export const BulkOperation = object(
  "Operation",
  {
    id: Type.String({ examples: ["op_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    action: stringEnum([...bulkActions, "purge"]),
    state: stringEnum(["running", "done", "aborted"]),
    state_reason: nullable(Type.String()),
    total: nullable(Count("How many runs it is about, where they were named")),
    seen: Count("Runs that it has looked at"),
    done: Count("Of these, those that it did something about"),
    failed: Count("Of these, those about which it could do nothing"),
    skipped: Count("Of these, the rest: nothing was left to do, as for a run that had ended before it was cancelled"),
    failures: Type.Array(OperationFailure, { description: "The first of those that failed, and why" }),
    actor: nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { description: "Work on many runs that goes on by itself" },
);
export type BulkOperation = Static<typeof BulkOperation>;

export const OperationList = pageOf("OperationList", { operations: Type.Array(BulkOperation) });
export type OperationList = Static<typeof OperationList>;

const OperationRef = Type.Object({ id: Type.String({ examples: ["op_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

export const bulkRuns = {
  method: "POST",
  path: "/v1/runs:bulk",
  aliases: [{ path: "/runs:bulk" }],
  tag: "Operations",
  client: "runs.bulk",
  summary: "Do the same to many runs",
  description:
    "Goes on by itself, also when the node that began it dies, and can be watched and aborted. What cannot be done to a run does not " +
    "keep it from the others.",
  permission: "runs:write",
  rateClass: "bulk",
  body: RunBulk,
  answers: {
    200: { description: "How many runs it would be about, for a dry run", schema: BulkCount },
    202: { description: "The operation", schema: BulkOperation, headers: { Location: "Where it is" } },
  },
  errors: [
    ...bodyErrors,
    "status_unknown",
    "label_selector_invalid",
    "instant_invalid",
    "id_invalid",
    "not_found",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const listOperations = {
  method: "GET",
  path: "/v1/operations",
  tag: "Operations",
  client: "operations.list",
  summary: "List operations, newest first",
  permission: "runs:read",
  rateClass: "read",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: OperationList } },
  errors: listErrors,
} as const satisfies Operation;

export const getOperation = {
  method: "GET",
  path: "/v1/operations/{id}",
  tag: "Operations",
  client: "operations.get",
  summary: "Show how far an operation is",
  permission: "runs:read",
  rateClass: "read",
  params: OperationRef,
  answers: { 200: { description: "The operation as it is now", schema: BulkOperation } },
  errors: getErrors,
} as const satisfies Operation;

export const abortOperation = {
  method: "POST",
  path: "/v1/operations/{id}:abort",
  aliases: [{ path: "/v1/operations/{id}/abort" }],
  tag: "Operations",
  client: "operations.abort",
  summary: "Stop an operation",
  description: "What it did stays done. One that has ended is answered as it is.",
  permission: "runs:write",
  rateClass: "write",
  params: OperationRef,
  answers: { 200: { description: "The operation as it is now", schema: BulkOperation } },
  errors: writeErrors,
} as const satisfies Operation;

export type BulkRequest = ReturnType<typeof readBulk>;
export type BulkFilter = ReturnType<typeof readBulkFilter>;

export function readBulk(body: unknown) {
  return readBody(RunBulk, body, (given, findings) => {
    const { action = "cancel", filter, ids, dry_run: dryRun = false } = given;
    if ((filter === undefined) === (ids === undefined)) {
      findings.add("", "field_invalid", "Name the runs by either filter or ids. An empty filter means all runs.");
    }
    if (ids === undefined) return { action, target: { filter: readBulkFilter(filter ?? {}, findings) }, dryRun };
    const read = ids.flatMap((id, at) => findings.attempt(`/ids/${at}`, () => parseId("run", id)) ?? []);
    return { action, target: { ids: [...new Set(read)] }, dryRun };
  });
}

function readBulkFilter(given: NonNullable<RunBulk["filter"]>, findings: Findings) {
  const read = <Value>(name: keyof typeof given, parse: (text: string) => Value): Value | undefined => {
    const text = given[name];
    return text === undefined ? undefined : findings.attempt(`/filter/${name}`, () => parse(text));
  };
  return present({
    status: read("status", parseStatusFilter),
    task: given.task,
    queue: given.queue,
    owner: given.owner,
    jobId: read("job_id", (text) => parseId("job", text)),
    workerId: read("worker_id", (text) => parseId("wrk", text)),
    trigger: given.trigger,
    labels: read("label_selector", parseLabelSelector),
    createdFrom: read("created_after", (text) => parseInstant(text)),
    createdBefore: read("created_before", (text) => parseInstant(text)),
  });
}
