import { logLevels } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { stringEnum, Timestamp } from "../fields.js";
import { type Operation, queryErrors, storeErrors } from "../operation.js";
import { NextPageToken, paging } from "../paging.js";
import { RunRef } from "./run.js";

export const RunLogLine = Type.Object(
  {
    at: Timestamp,
    level: stringEnum(logLevels),
    message: Type.String(),
    fields: Type.Unknown({ description: "What was given beside the message; null if nothing was" }),
    fence: Type.Integer({ description: "Which attempt wrote it; grows with every attempt" }),
    number: Type.Integer({ description: "From 1 within the attempt" }),
  },
  { title: "RunLogLine", additionalProperties: false },
);
export type RunLogLine = Static<typeof RunLogLine>;

export const RunLog = Type.Object(
  { lines: Type.Array(RunLogLine), next_page_token: NextPageToken },
  { title: "RunLog", additionalProperties: false },
);
export type RunLog = Static<typeof RunLog>;

export const RunLogQuery = Type.Object(
  {
    ...paging,
    level: Type.Optional(stringEnum(logLevels, { description: "This level and those above" })),
    follow: Type.Optional(
      stringEnum(["true", "false"], {
        description: `Waits up to ${limits.followMs / 1_000} s for more lines, until the run has ended`,
      }),
    ),
  },
  { additionalProperties: false },
);
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
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;
