import { guarantees } from "@carillon/core";
import { stringEnum } from "./string-enum.js";

export const Guarantee = stringEnum(guarantees, {
  description:
    "at_least_once, the default: a run whose worker is lost is begun again. at_most_once: one attempt, never begun a second time; a run whose worker is lost has failed",
});
