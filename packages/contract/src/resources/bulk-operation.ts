import { parseId, parseInstant, parseLabelSelector, parseStatusFilter, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import { Count, Flag, IdText, nullable, object, stringEnum, Timestamp } from "../fields.js";
import { bodyErrors, type Operation, pageAnswer, singleAnswer, storeErrors, verb, writeErrors } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";
import { exactlyOne } from "../rules.js";
import { RunListQuery } from "./run.js";

const bulkActions = ["cancel", "retry", "discard"] as const;

const {
  page_size: _size,
  page_token: _token,
  order_by: _order,
  total: _total,
  payload: _payload,
  ...filters
} = RunListQuery.properties;

const bulkFilters = { ...filters, worker_id: Type.Optional(IdText("wrk", "Only runs that this worker has or had")) };

export const RunBulk = object(
  "RunBulk",
  {
    action: stringEnum(bulkActions, {
      description:
        "cancel: waiting runs end, running ones are asked to stop. retry: each failed run is retried, once. discard: failed " +
        "runs are removed from the dead letters",
    }),
    filter: Type.Optional(
      Type.Object(bulkFilters, {
        additionalProperties: false,
        description: "As in the list of runs; an empty filter means all runs to which the action applies",
      }),
    ),
    ids: Type.Optional(
      Type.Array(IdText("run"), {
        minItems: 1,
        maxItems: limits.batch,
        description: "The ids of the runs, instead of a filter",
      }),
    ),
    dry_run: Flag("Only counts the runs"),
  },
  {
    ...exactlyOne(["filter", "ids"]),
    examples: [{ action: "retry", filter: { task: "email.welcome", created_after: "2026-11-12T00:00:00Z" } }],
  },
);
export type RunBulk = Static<typeof RunBulk>;

export const BulkCount = object("BulkCount", {
  count: Count("Matching runs"),
  is_least: Type.Boolean({ description: "There may be more runs than were counted" }),
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
    total: nullable(Count("The number of runs, where they were named by ids")),
    seen: Count("Runs processed so far"),
    done: Count("Of these, runs that it changed"),
    failed: Count("Of these, runs that it could not change"),
    skipped: Count("Of these, the rest, which needed no change, such as a run that had ended before it was cancelled"),
    failures: Type.Array(OperationFailure, { description: "The first failures, with their reasons" }),
    actor: nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { description: "An action on many runs that continues in the background" },
);
export type BulkOperation = Static<typeof BulkOperation>;

export const OperationList = pageOf("OperationList", { operations: Type.Array(BulkOperation) });
export type OperationList = Static<typeof OperationList>;

const OperationRef = Type.Object({ id: IdText("op") });

export const bulkRuns = {
  method: "POST",
  path: "/v1/runs:bulk",
  aliases: [{ path: "/runs:bulk" }],
  tag: "Operations",
  client: "runs.bulk",
  summary: "Apply one action to many runs",
  description:
    "Starts an operation that continues in the background, even if the node that started it fails. It can be watched and " +
    "aborted. A run that cannot be changed does not stop the others.",
  permission: "runs:write",
  rateClass: "bulk",
  body: RunBulk,
  answers: {
    200: { description: "The number of matching runs, for a dry run", schema: BulkCount },
    202: { description: "The operation", schema: BulkOperation, headers: { Location: "The address of the resource" } },
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

const reads = { method: "GET", tag: "Operations", permission: "runs:read", rateClass: "read" } as const;

export const listOperations = {
  ...reads,
  path: "/v1/operations",
  client: "operations.list",
  summary: "List operations, newest first",
  query: PageQuery,
  ...pageAnswer(OperationList),
} as const satisfies Operation;

export const getOperation = {
  ...reads,
  path: "/v1/operations/{id}",
  client: "operations.get",
  summary: "Get an operation",
  params: OperationRef,
  ...singleAnswer(BulkOperation, "The operation as it is now"),
} as const satisfies Operation;

export const abortOperation = {
  ...verb("/v1/operations/{id}:abort"),
  tag: "Operations",
  client: "operations.abort",
  summary: "Abort an operation",
  description: "Changes that it already made remain. An operation that has ended is returned unchanged.",
  permission: "runs:write",
  rateClass: "write",
  params: OperationRef,
  ...singleAnswer(BulkOperation, "The operation as it is now", writeErrors),
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
