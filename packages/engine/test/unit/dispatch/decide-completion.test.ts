import { expect, it } from "vitest";
import type { ClaimedRun } from "@carillon/store";
import { decideCompletion } from "../../../src/dispatch/results/decide-completion.js";
import { toAssignment } from "../../../src/dispatch/sessions/worker-registration.js";

const run: ClaimedRun = {
  id: "r1",
  jobId: "r1",
  namespaceId: 1,
  lane: 1,
  session: "s1",
  payload: "null",
  policy: {},
  spent: 0,
  losses: 0,
  fence: 1,
  rank: 0,
  priority: 4,
  runAt: 0,
  nominal: 0,
  trigger: "once",
  deadline: null,
  isStopped: false,
  isStarted: false,
};

it.each([
  ["no object", null],
  ["attempts that are no number", { maxAttempts: "3" }],
  ["no attempts at all", { maxAttempts: 0 }],
  ["a wait that is none", { initialMs: "1s" }],
  ["errors that are no list", { nonRetryable: 5 }],
])("a run whose policy plain SQL stored unsound can fail: retries with %s", (_what, retry) => {
  const error = { type: "Error", message: "no", retryable: true };
  const completion = {
    runId: "r1",
    fence: 1,
    startedAgoMs: 0,
    outcome: { kind: "failed", reason: "handler_error", error },
  } as const;
  const policy = { retry } as unknown as ClaimedRun["policy"];
  const decision = decideCompletion({ run: { ...run, policy }, completion, now: 0, random: 0, rankAt: () => 0 });
  const kind = retry === null ? "retry" : "finish";
  expect(decision).toMatchObject(kind === "retry" ? { kind } : { kind, run: { status: "failed", error } });
});

it.each([
  ["a text for a time", { timeoutMs: "5m" }, { timeoutMs: null, maxAttempts: 5 }],
  ["a time below nothing", { timeoutMs: -1 }, { timeoutMs: null, maxAttempts: 5 }],
  ["a text for a number", { retry: { maxAttempts: "3 times" } }, { timeoutMs: null, maxAttempts: 1 }],
])("an assignment has numbers for any policy that plain SQL stored: %s", (_what, policy, expected) => {
  const odd = { ...run, policy } as unknown as ClaimedRun;
  const lane = { id: 1, queue: "default", task: "echo", kind: "plain", requires: "" } as const;
  expect(toAssignment(odd, lane, "default")).toMatchObject(expected);
});
