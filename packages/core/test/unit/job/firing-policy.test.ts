import { defaultFiringPolicy, firingPolicy, ownFiring } from "@carillon/core";
import { expect, it } from "vitest";

it("stores only the members of a firing policy that differ from the defaults, and completes them again", () => {
  const said = { ...defaultFiringPolicy, overlap: "allow", maxCatchupRuns: 5 } as const;
  expect(ownFiring(said)).toEqual({ overlap: "allow", maxCatchupRuns: 5 });
  expect(firingPolicy(ownFiring(said))).toEqual(said);
  expect(ownFiring({ misfire: "run_once" })).toEqual({});
});
