import { afterEach, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const at = "2030-01-01T00:00:00.000Z";
const error = {
  type: "TypeError",
  message: "x is not a function\u001b[2J",
  stack: "TypeError: x is not a function\n    at work (/app/tasks.js:3:9)\n    at run (/app/run.js:1:1)",
  retryable: true,
};
const attempt = (over: object) => ({
  attempt: 1,
  fence: 1,
  worker_id: "wrk_a",
  started_at: at,
  ended_at: at,
  duration_ms: 1_234,
  outcome: "failed",
  error: null,
  ...over,
});
const failed = {
  id: "run_1",
  job_id: "job_1",
  task: "pdf",
  status: "failed",
  status_reason: "handler_error",
  waiting_on: null,
  attempt: 1,
  max_attempts: 1,
  losses: 1,
  worker_id: "wrk_b",
  trigger: { scheduled_for: at },
  started_at: at,
  finished_at: at,
  lag_ms: 5,
  duration_ms: 7,
  payload: null,
  output: null,
  error,
  attempts: [attempt({ outcome: "worker_lost" }), attempt({ fence: 2, worker_id: "wrk_b", duration_ms: 7, error })],
};

async function shown(run: object): Promise<string[]> {
  serve(run);
  const io = fakeIo();
  expect(await runCli(["run", "get", "run_1"], io)).toBe(0);
  return io.written().split("\n");
}

it("run get of a failed run shows its worker, the error with its stack, and every attempt with its worker and duration", async () => {
  const lines = await shown(failed);
  expect(lines).toEqual(
    expect.arrayContaining([
      "losses         1",
      "worker         wrk_b",
      "error          TypeError: x is not a function [2J",
      "stack          at work (/app/tasks.js:3:9)",
      "               at run (/app/run.js:1:1)",
    ]),
  );
  expect(lines.slice(lines.indexOf("") + 1)).toEqual([
    "ATTEMPT  OUTCOME      WORKER  STARTED                      TOOK  ERROR",
    `      1  worker_lost  wrk_a   ${at}  1234 ms  -`,
    `      1  failed       wrk_b   ${at}     7 ms  TypeError: x is not a function [2J`,
    "",
  ]);
});

it("run get of a run that succeeded at once shows no list of attempts and no losses", async () => {
  const lines = await shown({
    ...failed,
    status: "succeeded",
    error: null,
    losses: 0,
    attempts: [attempt({ outcome: "succeeded" })],
  });
  expect(lines.join("\n")).not.toMatch(/ATTEMPT|losses|stack/);
});
