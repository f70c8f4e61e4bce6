import { describe, expect, it } from "vitest";
import { checkFreshness } from "../../src/mutants/check-freshness.js";
import { mutants } from "../../src/mutants/mutants.js";

describe("mutants", () => {
  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "the mutant %s finds its texts in the build",
    (_name, one) => {
      expect(() => checkFreshness(one, "build")).not.toThrow();
    },
  );
});
