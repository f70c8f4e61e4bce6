import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { RunListQuery } from "./page.js";
import { NextPageToken } from "./paging.js";
import { Count, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

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

export const RunBulk = Type.Object(
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
  {
    title: "RunBulk",
    additionalProperties: false,
    examples: [{ action: "retry", filter: { task: "email.welcome", created_after: "2026-11-12T00:00:00Z" } }],
  },
);

export const BulkCount = Type.Object(
  {
    count: Count("Runs that it would be about"),
    is_least: Type.Boolean({ description: "There may be more: it was not looked at all of them" }),
    dry_run: Type.Literal(true),
  },
  { title: "BulkCount", additionalProperties: false },
);

const OperationFailure = Type.Object(
  { id: Type.String(), code: Type.String(), detail: Type.String() },
  { title: "OperationFailure", additionalProperties: false },
);

export const BulkOperation = Type.Object(
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
  { title: "Operation", additionalProperties: false, description: "Work on many runs that goes on by itself" },
);

export const OperationList = Type.Object(
  { operations: Type.Array(BulkOperation), next_page_token: NextPageToken },
  { title: "OperationList", additionalProperties: false },
);

export type RunBulk = Static<typeof RunBulk>;
export type BulkCount = Static<typeof BulkCount>;
export type BulkOperation = Static<typeof BulkOperation>;
export type OperationList = Static<typeof OperationList>;
