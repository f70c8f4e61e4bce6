import { expect, it } from "vitest";
import { similarWord } from "../../../src/check/similar-word.js";

const words = ["task", "payload", "schedule", "max_attempts", "queue"];

it.each([
  ["taks", "task"],
  ["Payload", "payload"],
  ["schedul", "schedule"],
  ["max-attempts", "max_attempts"],
  ["quue", "queue"],
  ["maxattempt", "max_attempts"],
])("takes %s for %s", (given, meant) => {
  expect(similarWord(given, words)).toBe(meant);
});

it.each(["", "x", "abc", "tax_office", "a".repeat(100_000)])("has no guess for %.20s", (given) => {
  expect(similarWord(given, words)).toBeUndefined();
});
