import { expect, it } from "vitest";
import { prettyLine } from "../../../src/services/logger.js";

const line = (entry: object) => prettyLine(JSON.stringify({ level: 30, time: 1_700_000_000_123, ...entry }), false);

it("a pretty line has time, level, component, message and the other members", () => {
  expect(line({ component: "scheduler", msg: "fired", count: 3, job: "job_1", note: "a b" })).toBe(
    '22:13:20.123 info  scheduler fired count=3 job=job_1 note="a b"',
  );
});

it("an entry stays on one line for any data", () => {
  const shown = line({ msg: "a\nb\u001b[2J", path: "x\ny", bell: "\u0007" });
  expect(shown.split("\n")).toHaveLength(1);
  expect(shown).not.toMatch(/\p{Cc}/u);
});

it("shows the stack of an error below its line", () => {
  expect(line({ level: 50, msg: "failed", err: { message: "no", stack: "Error: no\n    at x" } })).toBe(
    "22:13:20.123 error failed\n    Error: no\n        at x",
  );
});

it("uses colours only on request", () => {
  const json = JSON.stringify({ level: 40, time: 0, msg: "m" });
  expect(prettyLine(json, true)).toContain("\u001b[33mwarn \u001b[39m");
  expect(prettyLine(json, false)).not.toContain("\u001b");
});

it("passes on a line that is not a log entry", () => {
  expect(prettyLine("plain text", true)).toBe("plain text");
});
