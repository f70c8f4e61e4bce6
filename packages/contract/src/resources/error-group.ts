import { type Static, Type } from "typebox";
import { closed, Count, NameFilter, object, Text, Timestamp } from "../fields.js";
import { singleAnswer, pageAnswer, type Operation } from "../operation.js";
import { pageOf, paging } from "../paging.js";

export const ErrorGroupQuery = closed({ ...paging, task: Type.Optional(NameFilter("Only of this task")) });
export type ErrorGroupQuery = Static<typeof ErrorGroupQuery>;

export const ErrorGroup = object("ErrorGroup", {
  fingerprint: Type.String({ examples: ["9f86d081884c7d65"] }),
  type: Type.String({ examples: ["TypeError"] }),
  message: Type.String({ description: "The message without its variable parts", examples: ["no user <n>"] }),
  tasks: Type.Array(Type.String()),
  count: Count("Failed attempts; a node that crashes may lose those of the last seconds"),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  sample_run_id: Text("A run that had such an error"),
});
export type ErrorGroup = Static<typeof ErrorGroup>;

export const ErrorGroupList = pageOf("ErrorGroupList", { error_groups: Type.Array(ErrorGroup) });
export type ErrorGroupList = Static<typeof ErrorGroupList>;

const GroupRef = Type.Object({ fingerprint: Type.String({ examples: ["9f86d081884c7d65"] }) });
const reads = { method: "GET", tag: "Error groups", permission: "runs:read", rateClass: "read" } as const;

export const listErrorGroups = {
  ...reads,
  path: "/v1/error-groups",
  client: "errorGroups.list",
  summary: "List error groups, latest first",
  description:
    "A group holds errors from the same place in the code that differ only in numbers, ids, quoted words, addresses and " +
    "paths.",
  query: ErrorGroupQuery,
  ...pageAnswer(ErrorGroupList),
} as const satisfies Operation;

export const getErrorGroup = {
  ...reads,
  path: "/v1/error-groups/{fingerprint}",
  client: "errorGroups.get",
  summary: "Get an error group",
  params: GroupRef,
  ...singleAnswer(ErrorGroup, "The error group"),
} as const satisfies Operation;
