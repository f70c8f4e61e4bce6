import { guarantees } from "@carillon/core";
import { Type } from "typebox";
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

export const Deadline = DurationText(
  "From its time to its end, all attempts together; what has not ended by then has failed.",
  "30m",
);
