import { describe, expect, it } from "vitest";
import { parseLabelSelector } from "../../../src/label/selector.js";

describe("a label selector", () => {
  it.each([
    ["a=b", [{ key: "a", isIn: true, among: ["b"] }]],
    ["a == b", [{ key: "a", isIn: true, among: ["b"] }]],
    ["a!=b", [{ key: "a", isIn: false, among: ["b"] }]],
    ["a in (x, y)", [{ key: "a", isIn: true, among: ["x", "y"] }]],
    ["a notin (x)", [{ key: "a", isIn: false, among: ["x"] }]],
    ["a", [{ key: "a", isIn: true }]],
    ["!a", [{ key: "a", isIn: false }]],
    ["a=", [{ key: "a", isIn: true, among: [""] }]],
    [
      "team=billing, region in (eu,us),!x.y/z",
      [
        { key: "team", isIn: true, among: ["billing"] },
        { key: "region", isIn: true, among: ["eu", "us"] },
        { key: "x.y/z", isIn: false },
      ],
    ],
  ])("parses the label selector %s", (text, conditions) => {
    expect(parseLabelSelector(text)).toEqual(conditions);
  });

  it.each(["", ",", "a=b,", "=b", "a in x", "a in (x", "a b", "!!a", "a=b=c", "-a", "x".repeat(2_001)])(
    "refuses %j",
    (text) => {
      expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: "label_selector_invalid" }));
    },
  );
});
