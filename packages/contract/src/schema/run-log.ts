import { logLevels } from "@carillon/core";
import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { NextPageToken, paging } from "./paging.js";
import { Timestamp } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

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

export const RunLog = Type.Object(
  { lines: Type.Array(RunLogLine), next_page_token: NextPageToken },
  { title: "RunLog", additionalProperties: false },
);

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

export type RunLogLine = Static<typeof RunLogLine>;
export type RunLog = Static<typeof RunLog>;
export type RunLogQuery = Static<typeof RunLogQuery>;
