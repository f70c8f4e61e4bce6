import { defaultFiringPolicy, firingPolicy, ownFiring } from "@carillon/core";
import { expect, it } from "vitest";

it("keeps of a firing policy only what differs from the defaults, which complete it again", () => {
  const said = { ...defaultFiringPolicy, overlap: "allow", catchupMost: 5 } as const;
  expect(ownFiring(said)).toEqual({ overlap: "allow", catchupMost: 5 });
  expect(firingPolicy(ownFiring(said))).toEqual(said);
  expect(ownFiring({ misfire: "run_once" })).toEqual({});
});
