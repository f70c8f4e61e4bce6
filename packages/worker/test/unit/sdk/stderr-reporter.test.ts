import { describe, expect, it } from "vitest";
import type { WorkerEvent } from "../../../src/index.js";
import { stderrReporter } from "../../../src/sdk/stderr-reporter.js";

function setUp() {
  const lines: string[] = [];
  const clock = { now: 0 };
  const report = stderrReporter({ write: (line) => void lines.push(line), monotonic: () => clock.now });
  return { lines, clock, report };
}

const failed = (type = "TypeError"): WorkerEvent => ({
  type: "run.attempt_failed",
  runId: "run_01jfhc80000e000g0000000000",
  task: "hello",
  attempt: 1,
  maxAttempts: 5,
  error: { type, message: "boom", stack: `${type}: boom\n    at run (/app/tasks.js:3:9)`, retryable: true },
});

describe("the stderr reporter", () => {
  it("prints the run, the error and the stack of a failed attempt", () => {
    const { lines, report } = setUp();
    report(failed());
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^carillon: attempt 1 of 5 of hello failed \(run_\w+\): TypeError: boom\n {4}at run \(\/app\/tasks\.js:3:9\)$/,
    );
  });

  it("prints a few failures of each kind, and later how many were suppressed", () => {
    const { lines, clock, report } = setUp();
    for (let n = 0; n < 100; n++) report(failed());
    report(failed("RangeError"));
    expect(lines).toHaveLength(6);
    clock.now = 10_000;
    report(failed());
    expect(lines.at(-1)).toContain("(and 95 more like it before)");
  });

  it("prints that the server cannot be reached, and nothing for events that are not failures", () => {
    const { lines, report } = setUp();
    report({ type: "worker.started" });
    report({ type: "worker.transport_failed", error: new Error("connect ECONNREFUSED 127.0.0.1:8023") });
    expect(lines).toEqual([
      "carillon: the worker cannot reach its server and retries: connect ECONNREFUSED 127.0.0.1:8023",
    ]);
  });
});
