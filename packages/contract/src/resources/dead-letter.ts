import { parseId, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import {
  closed,
  Count,
  described,
  Flag,
  InstantText,
  JobName,
  NameFilter,
  nullable,
  object,
  queryInstant,
  stringEnum,
  Text,
  Timestamp,
} from "../fields.js";
import { bodyErrors, type Operation, pageAnswer, queryErrors, singleAnswer, storeErrors, verb } from "../operation.js";
import { NextPageToken, pageOf, paging } from "../paging.js";
import { Problem } from "./problem.js";
import { Run, RunRef } from "./run.js";

const filters = {
  task: Type.Optional(NameFilter("Only of this task")),
  queue: Type.Optional(NameFilter("Only in this queue")),
  job_id: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
  fingerprint: Type.Optional(NameFilter("Only those with this fingerprint of the error")),
  failed_after: Type.Optional(InstantText("Only those that failed then or later")),
  failed_before: Type.Optional(InstantText("Only those that failed before then")),
};

export const DeadLetterQuery = closed({ ...paging, ...filters });
export type DeadLetterQuery = Static<typeof DeadLetterQuery>;

export const DeadLetterList = pageOf("DeadLetterList", { dead_letters: Type.Array(Run) });
export type DeadLetterList = Static<typeof DeadLetterList>;

export const DeadLetterAction = object(
  "DeadLetterAction",
  {
    filter: Type.Optional(
      Type.Object(filters, { additionalProperties: false, description: "Which dead letters; all by default" }),
    ),
    ...paging,
    dry_run: Flag("Only returns which ones match"),
  },
  {
    description: "One page of dead letters, newest first. Continue with next_page_token until it is null",
    examples: [{ filter: { task: "email.welcome" }, page_size: 100 }],
  },
);
export type DeadLetterAction = Static<typeof DeadLetterAction>;

const DeadLetterResult = object("DeadLetterResult", {
  id: Text("The id of the dead letter"),
  run_id: Type.Optional(Text("The run that replaces it")),
  problem: Type.Optional(described(Problem, "Why it stays as it is")),
});
export type DeadLetterResult = Static<typeof DeadLetterResult>;

export const DeadLetterActionDone = object("DeadLetterActionDone", {
  results: Type.Array(DeadLetterResult, { description: "Newest first" }),
  done: Count("Dead letters that were retried or discarded"),
  refused: Count("Dead letters that stay as they are"),
  dry_run: Type.Boolean({ description: "Whether this was a dry run, which changes nothing" }),
  next_page_token: NextPageToken,
});
export type DeadLetterActionDone = Static<typeof DeadLetterActionDone>;

const Redrive = object("Redrive", {
  kind: stringEnum(["retry", "replay", "discard"]),
  run_id: nullable(Text("The run that was made")),
  actor: nullable(Type.String()),
  at: Timestamp,
});

export const RunWithRedrives = object("RunWithRedrives", {
  ...Run.properties,
  redrives: Type.Array(Redrive, { description: "Retries, replays and discards after its end, oldest first" }),
});
export type RunWithRedrives = Static<typeof RunWithRedrives>;

const actionErrors = [
  ...bodyErrors,
  "instant_invalid",
  "id_invalid",
  "page_token_invalid",
  "not_found",
  ...storeErrors,
] as const satisfies Operation["errors"];

const reads = { method: "GET", tag: "Dead letters", permission: "runs:read", rateClass: "read" } as const;

export const listDeadLetters = {
  ...reads,
  path: "/v1/dead-letters",
  client: "deadLetters.list",
  summary: "List dead letters, newest first",
  description: "Runs that failed for good and were not retried or discarded.",
  query: DeadLetterQuery,
  answers: { 200: { description: "One page", schema: DeadLetterList } },
  errors: [...queryErrors, "instant_invalid", "id_invalid", "page_token_invalid", "not_found", ...storeErrors],
} as const satisfies Operation;

const bulk = { method: "POST", tag: "Dead letters", permission: "runs:write", rateClass: "bulk" } as const;

export const redriveDeadLetters = {
  ...bulk,
  path: "/v1/dead-letters:redrive",
  client: "deadLetters.redriveMany",
  summary: "Retry dead letters by filter",
  description:
    "Handles one page of them, each by itself: a dead letter that cannot be retried stays as it is and does not stop the " +
    "others.",
  body: DeadLetterAction,
  bodyOptional: true,
  ...singleAnswer(DeadLetterActionDone, "The result for each item", actionErrors),
} as const satisfies Operation;

export const discardDeadLetters = {
  ...bulk,
  path: "/v1/dead-letters:discard",
  client: "deadLetters.discardMany",
  summary: "Discard dead letters by filter",
  description: "Handles one page of them. The runs stay in history; a retry undoes it.",
  body: DeadLetterAction,
  bodyOptional: true,
  ...singleAnswer(DeadLetterActionDone, "The result for each item", actionErrors),
} as const satisfies Operation;

export const getDeadLetter = {
  ...reads,
  path: "/v1/dead-letters/{id}",
  client: "deadLetters.get",
  summary: "Get a dead letter",
  params: RunRef,
  ...singleAnswer(RunWithRedrives, "The run"),
} as const satisfies Operation;

export const discardDeadLetter = {
  ...verb("/v1/dead-letters/{id}:discard"),
  tag: "Dead letters",
  client: "deadLetters.discard",
  summary: "Discard a dead letter",
  description: "The run stays in history; a retry undoes it.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  answers: { 204: { description: "The run is no longer a dead letter" } },
  errors: [...bodyErrors, "not_found", "run_not_failed", ...storeErrors],
} as const satisfies Operation;

/** Members are always in the same order: the page token's fingerprint is made from the JSON. */
function readFilter(given: Omit<DeadLetterQuery, "page_size" | "page_token">, at: string, findings: Findings) {
  const read = <Value>(name: keyof typeof given, parse: (text: string) => Value): Value | undefined => {
    const text = given[name];
    return text === undefined ? undefined : findings.attempt(`${at}/${name}`, () => parse(text));
  };
  return present({
    task: given.task,
    queue: given.queue,
    jobId: read("job_id", (text) => parseId("job", text)),
    fingerprint: given.fingerprint,
    failedFrom: read("failed_after", queryInstant),
    failedBefore: read("failed_before", queryInstant),
  });
}

export function readDeadLetterQuery(query: DeadLetterQuery) {
  const findings = new Findings("query");
  const filter = readFilter(query, "", findings);
  findings.raise();
  return filter;
}

export type DeadLetterActionRequest = ReturnType<typeof readDeadLetterAction>;

export function readDeadLetterAction(body: unknown) {
  return readBody(DeadLetterAction, body, ({ filter = {}, dry_run: dryRun = false, ...page }, findings) => {
    return { filter: readFilter(filter, "/filter", findings), page, dryRun };
  });
}

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

const GroupRef = Type.Object({
  fingerprint: Type.String({
    minLength: 1,
    examples: ["9f86d081884c7d65"],
  }),
});
const readsGroups = { method: "GET", tag: "Error groups", permission: "runs:read", rateClass: "read" } as const;

export const listErrorGroups = {
  ...readsGroups,
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
  ...readsGroups,
  path: "/v1/error-groups/{fingerprint}",
  client: "errorGroups.get",
  summary: "Get an error group",
  params: GroupRef,
  ...singleAnswer(ErrorGroup, "The error group"),
} as const satisfies Operation;
