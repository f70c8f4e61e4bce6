import { logLevels } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { stringEnum, Timestamp, closed, object } from "../fields.js";
import { type Operation, listErrors } from "../operation.js";
import { paging, pageOf } from "../paging.js";
import { RunRef } from "./run.js";

export const RunLogLine = object("RunLogLine", {
  at: Timestamp,
  level: stringEnum(logLevels),
  message: Type.String(),
  fields: Type.Unknown({ description: "What was given beside the message; null if nothing was" }),
  fence: Type.Integer({ description: "Which attempt wrote it; grows with every attempt" }),
  number: Type.Integer({ description: "From 1 within the attempt" }),
});
export type RunLogLine = Static<typeof RunLogLine>;

export const RunLog = pageOf("RunLog", { lines: Type.Array(RunLogLine) });
export type RunLog = Static<typeof RunLog>;

export const RunLogQuery = closed({
  ...paging,
  level: Type.Optional(stringEnum(logLevels, { description: "This level and those above" })),
  follow: Type.Optional(
    stringEnum(["true", "false"], {
      description: `Waits up to ${limits.followMs / 1_000} s for more lines, until the run has ended`,
    }),
  ),
});
export type RunLogQuery = Static<typeof RunLogQuery>;

export const listRunLogs = {
  method: "GET",
  path: "/v1/runs/{id}/logs",
  aliases: [{ path: "/runs/{id}/logs" }],
  tag: "Runs",
  client: "runs.logs",
  summary: "Read what a run logged",
  description:
    "In the order in which it was written, attempt after attempt. With follow the call waits up to 20 s for lines after the page " +
    "token, until the run has ended; next_page_token is null when nothing more will come.",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  query: RunLogQuery,
  waits: true,
  answers: { 200: { description: "Some lines", schema: RunLog } },
  errors: listErrors,
} as const satisfies Operation;
