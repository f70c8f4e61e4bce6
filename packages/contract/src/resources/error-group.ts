import { type Static, Type } from "typebox";
import { NameFilter, Count, Timestamp, object, closed } from "../fields.js";
import { type Operation, getErrors, listErrors } from "../operation.js";
import { paging, pageOf } from "../paging.js";

export const ErrorGroupQuery = closed({ ...paging, task: Type.Optional(NameFilter("Only of this task")) });
export type ErrorGroupQuery = Static<typeof ErrorGroupQuery>;

export const ErrorGroup = object("ErrorGroup", {
  fingerprint: Type.String({ examples: ["9f86d081884c7d65"] }),
  type: Type.String({ examples: ["TypeError"] }),
  message: Type.String({ description: "Without what differs from one time to the next", examples: ["no user <n>"] }),
  tasks: Type.Array(Type.String()),
  count: Count("Failed tries; a node that is killed may take those of the last seconds with it"),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  sample_run_id: Type.String({ description: "A run that ended or was tried again with such an error" }),
});
export type ErrorGroup = Static<typeof ErrorGroup>;

export const ErrorGroupList = pageOf("ErrorGroupList", { error_groups: Type.Array(ErrorGroup) });
export type ErrorGroupList = Static<typeof ErrorGroupList>;

const GroupRef = Type.Object({ fingerprint: Type.String({ examples: ["9f86d081884c7d65"] }) });

export const listErrorGroups = {
  method: "GET",
  path: "/v1/error-groups",
  tag: "Error groups",
  client: "errorGroups.list",
  summary: "List the kinds of errors, the latest first",
  description:
    "Errors that differ only in numbers, ids, quoted words, addresses and paths, and that were thrown in the same place, are of one kind.",
  permission: "runs:read",
  rateClass: "read",
  query: ErrorGroupQuery,
  answers: { 200: { description: "One page", schema: ErrorGroupList } },
  errors: listErrors,
} as const satisfies Operation;

export const getErrorGroup = {
  method: "GET",
  path: "/v1/error-groups/{fingerprint}",
  tag: "Error groups",
  client: "errorGroups.get",
  summary: "Get a kind of error",
  permission: "runs:read",
  rateClass: "read",
  params: GroupRef,
  answers: { 200: { description: "The kind", schema: ErrorGroup } },
  errors: getErrors,
} as const satisfies Operation;
