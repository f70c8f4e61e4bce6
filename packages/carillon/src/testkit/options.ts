import { option } from "@carillon/contract/check";
import { taskListOption } from "@carillon/worker";

const { anything, callable, custom, flag, list, number, object, oneOf, required, text, time, whole } = option;

export const testKitOptions = object(
  {
    tasks: required(taskListOption),
    now: time,
    random: callable<() => number>(),
    timeoutMs: number(1),
  },
  { title: "TestKitOptions" },
);

const textOrNull = custom<string | null>((value) => value === null || typeof value === "string", "a string or null");

const upstreamRun = object(
  {
    runId: text({ minLength: 1 }),
    jobId: text({ minLength: 1 }),
    jobKey: textOrNull,
    status: oneOf(["succeeded", "failed", "cancelled"]),
    reason: textOrNull,
    finishedAt: whole(0),
    output: anything,
    isOutputCut: flag,
    error: custom<{ readonly type: string; readonly message: string } | null>(
      (value) => value === null || typeof value === "object",
      "an object with type and message, or null",
    ),
  },
  { title: "UpstreamRun" },
);

/** Of `kit.run`. */
export const testRunOptions = object({ upstream: list(upstreamRun) }, { title: "TestRunOptions" });
