import { describe, expect, it } from "vitest";
import { similarWord, slipsBetween } from "../../../src/spelling/similar-word.js";

describe("the word that was probably meant", () => {
  it.each([
    ["shedule", "schedule"],
    ["Pirority", "priority"],
    ["time-zone", "time_zone"],
    ["tsak", "task"],
    ["maxattempt", "max_attempts"],
    ["datadir", "data_dir"],
    ["prot", "port"],
  ])("the most similar word to %s is %s", (given, meant) => {
    expect(similarWord(given, ["task", "schedule", "priority", "time_zone", "max_attempts", "port", "data_dir"])).toBe(
      meant,
    );
  });

  it("finds no similar word if none is near, or if the text is long", () => {
    for (const word of ["elephant", "", "x", "tax_office", "colour"])
      expect(similarWord(word, ["task", "queue", "port"])).toBeUndefined();
    expect(similarWord("abc", ["xyz", "key"])).toBeUndefined();
    expect(similarWord("x".repeat(65), ["x".repeat(64)])).toBeUndefined();
  });

  it("counts insertions, deletions, replacements and swaps as one edit each", () => {
    expect([
      slipsBetween("ab", "abc"),
      slipsBetween("abc", "ab"),
      slipsBetween("abc", "abd"),
      slipsBetween("abc", "acb"),
    ]).toEqual([1, 1, 1, 1]);
    expect(slipsBetween("", "abc")).toBe(3);
  });
});
