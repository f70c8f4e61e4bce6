import { meets, requirementText } from "@carillon/core";
import { expect, it } from "vitest";

it("is the same text whatever the order of the labels, and empty for none", () => {
  expect(requirementText({ zone: "eu", gpu: "a100" })).toBe("gpu=a100\nzone=eu");
  expect(requirementText({ gpu: "a100", zone: "eu" })).toBe("gpu=a100\nzone=eu");
  expect([requirementText({}), requirementText()]).toEqual(["", ""]);
});

it("is met by workers that have all of the labels, whatever else they have", () => {
  const requirement = requirementText({ gpu: "a=100", zone: "eu" });
  expect(meets({ gpu: "a=100", zone: "eu", spot: "yes" }, requirement)).toBe(true);
  expect(meets({ gpu: "a=100" }, requirement)).toBe(false);
  expect(meets({ gpu: "h100", zone: "eu" }, requirement)).toBe(false);
  expect(meets({}, "")).toBe(true);
});
