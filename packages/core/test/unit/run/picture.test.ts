import { readFileSync } from "node:fs";
import * as core from "@carillon/core";
import { expect, it } from "vitest";
import { renderStateMachines } from "../../../../../scripts/generate/state-machines.mjs";

it("docs/state-machines.md equals the transition tables (node scripts/generate/state-machines.mjs writes it)", () => {
  const page = readFileSync(new URL("../../../../../docs/state-machines.md", import.meta.url), "utf8");
  expect(page).toBe(renderStateMachines(core));
});
