import { askedOf, meets, requirementsOf, requirementText } from "@carillon/core";
import { describe, expect, it } from "vitest";

describe("what a run requires of its worker", () => {
  it("writes requirements as the same text for any order of the labels, and as an empty text for none", () => {
    expect(requirementText({ zone: "eu", gpu: "a100" })).toBe("gpu=a100\nzone=eu");
    expect(requirementText({ gpu: "a100", zone: "eu" })).toBe("gpu=a100\nzone=eu");
    expect([requirementText({}), requirementText()]).toEqual(["", ""]);
  });

  it("accepts a worker that has all required labels, and possibly others", () => {
    const requirement = requirementText({ gpu: "a=100", zone: "eu" });
    expect(meets({ labels: { gpu: "a=100", zone: "eu", more: "yes" } }, "t", requirement)).toBe(true);
    expect(meets({ labels: { gpu: "a=100" } }, "t", requirement)).toBe(false);
    expect(meets({ labels: { gpu: "h100", zone: "eu" } }, "t", requirement)).toBe(false);
    expect(meets({}, "t", "")).toBe(true);
  });

  it("requires a version of the task of the run, not of another task", () => {
    const requirement = requirementText(requirementsOf({ version: "3" }));
    expect(meets({ versions: { t: ["2", "3"] } }, "t", requirement)).toBe(true);
    expect(meets({ versions: { other: ["3"] } }, "t", requirement)).toBe(false);
    expect(meets({}, "t", requirement)).toBe(false);
    expect(meets({ versions: { t: ["3"] } }, "t", "")).toBe(true);
  });

  it("refuses spot workers unless the run allows them, and never requires them", () => {
    const requirement = requirementText(requirementsOf({ allowsSpot: true }));
    expect(meets({ isSpot: true }, "t", "")).toBe(false);
    expect(meets({ isSpot: true }, "t", requirement)).toBe(true);
    expect(meets({}, "t", requirement)).toBe(true);
    expect(meets({ isSpot: true, labels: { gpu: "a" } }, "t", "gpu=a")).toBe(false);
  });

  it("reads stored requirements back unchanged", () => {
    const asked = { labels: { gpu: "a" }, version: "3", allowsSpot: true };
    expect(askedOf(requirementsOf(asked))).toEqual(asked);
    expect(askedOf(requirementsOf({}))).toEqual({ labels: {}, allowsSpot: false });
  });
});
