import { logLevels } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { closed, object, stringEnum, Timestamp } from "../fields.js";
import { listErrors, type Operation, singleAnswer } from "../operation.js";
import { pageOf, paging } from "../paging.js";
import { RunRef } from "./run.js";

export const RunLogLine = object("RunLogLine", {
  at: Timestamp,
  level: stringEnum(logLevels),
  message: Type.String(),
  fields: Type.Unknown({ description: "The fields logged with the message; null if there were none" }),
  fence: Type.Integer({ description: "Identifies the attempt that wrote it; increases with every attempt" }),
  number: Type.Integer({ description: "The number of the line within the attempt, from 1" }),
});
export type RunLogLine = Static<typeof RunLogLine>;

export const RunLog = pageOf("RunLog", { lines: Type.Array(RunLogLine) });
export type RunLog = Static<typeof RunLog>;

export const RunLogQuery = closed({
  ...paging,
  level: Type.Optional(stringEnum(logLevels, { description: "Only lines of this level and higher ones" })),
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
  summary: "Read the log of a run",
  description:
    "Lines are in the order in which they were written, attempt by attempt. With follow the call waits up to 20 s for lines " +
    "after the page token, until the run has ended. next_page_token is null when no more lines will follow.",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  query: RunLogQuery,
  waits: true,
  ...singleAnswer(RunLog, "A page of lines", listErrors),
} as const satisfies Operation;
