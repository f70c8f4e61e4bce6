import { guarantees } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, printablePattern, searchPathPattern } from "./limits.js";
import { DurationText, Labels } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

export const Guarantee = stringEnum(guarantees, {
  description:
    "at_least_once, the default: a run whose worker is lost is begun again. at_most_once: one attempt, never begun a second time; a run whose worker is lost has failed",
});

export const Requires = Type.Unsafe<Record<string, string>>({
  ...Labels,
  description: "Only workers that have all of these labels get it",
  examples: [{ gpu: "a100" }],
});

export const TaskVersion = Type.String({
  minLength: 1,
  maxLength: limits.labelValueLength,
  pattern: printablePattern,
  description: "Only workers that have this version of the task get it",
  examples: ["3"],
});

export const Searchable = Type.Array(
  Type.String({ minLength: 1, maxLength: limits.searchPathLength, pattern: searchPathPattern }),
  {
    maxItems: limits.searchPaths,
    description:
      "Paths of the payload by which it and its runs are found: lists take payload.<path>=<value>. What was stored before is not found",
    examples: [["customer.id"]],
  },
);

export const AllowSpot = Type.Boolean({
  description: "Whether workers that may go at any time get it too; false by default",
});

export const Deadline = DurationText(
  "From its time to its end, all attempts together; what has not ended by then has failed.",
  "30m",
);

export const Sla = Type.Object(
  {
    start_within: Type.Optional(DurationText("From its time until a worker has it.", "1m")),
    finish_within: Type.Optional(DurationText("From its time to its end, all attempts together.", "10m")),
  },
  {
    title: "Sla",
    additionalProperties: false,
    description: "What was promised of each run. A breach is an event and is counted; the run goes on",
  },
);

export type Sla = Static<typeof Sla>;
