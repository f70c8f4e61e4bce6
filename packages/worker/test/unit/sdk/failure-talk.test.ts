import { describe, expect, it } from "vitest";
import type { WorkerEvent } from "../../../src/index.js";
import { failureTalk } from "../../../src/sdk/failure-talk.js";

function talk() {
  const lines: string[] = [];
  const clock = { now: 0 };
  const say = failureTalk({ write: (line) => void lines.push(line), monotonic: () => clock.now });
  return { lines, clock, say };
}

const failed = (type = "TypeError"): WorkerEvent => ({
  type: "run.attempt_failed",
  runId: "run_01jfhc80000e000g0000000000",
  task: "hello",
  attempt: 1,
  maxAttempts: 5,
  error: { type, message: "boom", stack: `${type}: boom\n    at run (/app/tasks.js:3:9)`, retryable: true },
});

describe("a worker that nobody listens to", () => {
  it("says what failed, of which run, and where", () => {
    const { lines, say } = talk();
    say(failed());
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^carillon: attempt 1 of 5 of hello failed \(run_\w+\): TypeError: boom\n {4}at run \(\/app\/tasks\.js:3:9\)$/,
    );
  });

  it("says a few of each kind, and later how many were kept back", () => {
    const { lines, clock, say } = talk();
    for (let n = 0; n < 100; n++) say(failed());
    say(failed("RangeError"));
    expect(lines).toHaveLength(6);
    clock.now = 10_000;
    say(failed());
    expect(lines.at(-1)).toContain("(and 95 more like it before)");
  });

  it("says that its server cannot be reached, and nothing of what goes well", () => {
    const { lines, say } = talk();
    say({ type: "worker.started" });
    say({ type: "worker.transport_failed", error: new Error("connect ECONNREFUSED 127.0.0.1:8023") });
    expect(lines).toEqual([
      "carillon: the worker cannot reach its server, and tries on: connect ECONNREFUSED 127.0.0.1:8023",
    ]);
  });
});
