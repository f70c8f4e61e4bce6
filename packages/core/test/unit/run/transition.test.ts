import {
  initialRunStatuses,
  isFinal,
  type RunEvent,
  type RunStatus,
  runStatuses,
  runStatusGroups,
  runStatusReasons,
  runTransitions,
  transitionRun,
} from "@carillon/core";
import { describe, expect, it } from "vitest";

const events = Object.keys(runTransitions) as RunEvent[];
const next = (status: RunStatus, event: RunEvent) => {
  const result = transitionRun(status, event);
  return result.ok ? result.status : result.refusal;
};

/** The expected result of each event in each status. */
const expected: Record<RunStatus, Partial<Record<RunEvent, RunStatus>>> = {
  scheduled: {
    due: "queued",
    hold: "blocked",
    reschedule: "scheduled",
    expire: "failed",
    cancel: "cancelled",
    skip: "skipped",
  },
  blocked: { admit: "queued", reschedule: "scheduled", expire: "failed", cancel: "cancelled", skip: "skipped" },
  queued: { claim: "running", reschedule: "scheduled", expire: "failed", cancel: "cancelled", skip: "skipped" },
  running: {
    release: "queued",
    snooze: "scheduled",
    retry: "retrying",
    succeed: "succeeded",
    fail: "failed",
    cancel: "cancelled",
  },
  retrying: { due: "queued", hold: "blocked", reschedule: "scheduled", expire: "failed", cancel: "cancelled" },
  succeeded: {},
  failed: {},
  cancelled: {},
  skipped: {},
};

describe("the run's state machine", () => {
  it.each(runStatuses)("a run with status %s follows the transition table and refuses every other event", (status) => {
    const refusal = isFinal(status) ? "final" : "impossible";
    const answers = Object.fromEntries(events.map((event) => [event, next(status, event)]));
    const wanted = Object.fromEntries(events.map((event) => [event, expected[status][event] ?? refusal]));
    expect(answers).toEqual(wanted);
  });

  it("no event changes a final status [INV-4]", () => {
    for (const status of runStatusGroups.finished) {
      expect(events.map((event) => next(status, event))).toEqual(events.map(() => "final"));
    }
  });

  it("every live run can reach an end, and every status is reachable from an initial one [INV-6]", () => {
    const reached = new Set<RunStatus>(initialRunStatuses);
    for (const status of reached) for (const event of events) add(reached, transitionRun(status, event));
    expect([...reached].sort()).toEqual([...runStatuses].sort());
    for (const status of runStatusGroups.live) expect(next(status, "cancel")).toBe("cancelled");
  });

  it("only queued runs can start, so every attempt begins with a claim", () => {
    const ways = events.filter((event) => runTransitions[event].to === "running");
    expect(ways).toEqual(["claim"]);
    expect(runTransitions.claim.from).toEqual(["queued"]);
  });

  it("every status is either live or finished, and pending is live but not running", () => {
    const { live, finished, pending } = runStatusGroups;
    expect([...live, ...finished].sort()).toEqual([...runStatuses].sort());
    expect(runStatuses.filter((status) => isFinal(status)).sort()).toEqual([...finished].sort());
    expect([...pending, "running"].sort()).toEqual([...live].sort());
  });

  it("every status except the plain ones has reasons", () => {
    for (const status of ["failed", "cancelled", "skipped", "retrying", "blocked"] as const) {
      expect(runStatusReasons[status].length).toBeGreaterThan(0);
    }
  });
});

function add(reached: Set<RunStatus>, result: ReturnType<typeof transitionRun>): void {
  if (result.ok) reached.add(result.status);
}
