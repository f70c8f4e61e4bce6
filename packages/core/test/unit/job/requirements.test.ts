import { askedOf, meets, requirementsOf, requirementText } from "@carillon/core";
import { describe, expect, it } from "vitest";

describe("what a run requires of its worker", () => {
  it("is the same text whatever the order of the labels, and empty for none", () => {
    expect(requirementText({ zone: "eu", gpu: "a100" })).toBe("gpu=a100\nzone=eu");
    expect(requirementText({ gpu: "a100", zone: "eu" })).toBe("gpu=a100\nzone=eu");
    expect([requirementText({}), requirementText()]).toEqual(["", ""]);
  });

  it("is met by workers that have all of the labels, whatever else they have", () => {
    const requirement = requirementText({ gpu: "a=100", zone: "eu" });
    expect(meets({ labels: { gpu: "a=100", zone: "eu", more: "yes" } }, "t", requirement)).toBe(true);
    expect(meets({ labels: { gpu: "a=100" } }, "t", requirement)).toBe(false);
    expect(meets({ labels: { gpu: "h100", zone: "eu" } }, "t", requirement)).toBe(false);
    expect(meets({}, "t", "")).toBe(true);
  });

  it("can be a version of its task, which the worker must have of that task", () => {
    const requirement = requirementText(requirementsOf({ version: "3" }));
    expect(meets({ versions: { t: ["2", "3"] } }, "t", requirement)).toBe(true);
    expect(meets({ versions: { other: ["3"] } }, "t", requirement)).toBe(false);
    expect(meets({}, "t", requirement)).toBe(false);
    expect(meets({ versions: { t: ["3"] } }, "t", "")).toBe(true);
  });

  it("keeps spot workers away unless it allows them; they are never required", () => {
    const requirement = requirementText(requirementsOf({ allowsSpot: true }));
    expect(meets({ isSpot: true }, "t", "")).toBe(false);
    expect(meets({ isSpot: true }, "t", requirement)).toBe(true);
    expect(meets({}, "t", requirement)).toBe(true);
    expect(meets({ isSpot: true, labels: { gpu: "a" } }, "t", "gpu=a")).toBe(false);
  });

  it("is read back as it was asked", () => {
    const asked = { labels: { gpu: "a" }, version: "3", allowsSpot: true };
    expect(askedOf(requirementsOf(asked))).toEqual(asked);
    expect(askedOf(requirementsOf({}))).toEqual({ labels: {}, allowsSpot: false });
  });
});
