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

/** Where each event leads from each status, written out: the table must say this and nothing else. */
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
  it.each(runStatuses)("leads from %s where the semantics say, and refuses every other event", (status) => {
    const refusal = isFinal(status) ? "final" : "impossible";
    const answers = Object.fromEntries(events.map((event) => [event, next(status, event)]));
    const wanted = Object.fromEntries(events.map((event) => [event, expected[status][event] ?? refusal]));
    expect(answers).toEqual(wanted);
  });

  it("never changes a final status [INV-4]", () => {
    for (const status of runStatusGroups.finished) {
      expect(events.map((event) => next(status, event))).toEqual(events.map(() => "final"));
    }
  });

  it("can bring every live run to an end, and reaches every status from those that a run is born with [INV-6]", () => {
    const reached = new Set<RunStatus>(initialRunStatuses);
    for (const status of reached) for (const event of events) add(reached, transitionRun(status, event));
    expect([...reached].sort()).toEqual([...runStatuses].sort());
    for (const status of runStatusGroups.live) expect(next(status, "cancel")).toBe("cancelled");
  });

  it("runs only what was queued, so that every attempt begins with a claim", () => {
    const ways = events.filter((event) => runTransitions[event].to === "running");
    expect(ways).toEqual(["claim"]);
    expect(runTransitions.claim.from).toEqual(["queued"]);
  });

  it("sorts every status into live or finished, and pending is what is live but does not run", () => {
    const { live, finished, pending } = runStatusGroups;
    expect([...live, ...finished].sort()).toEqual([...runStatuses].sort());
    expect(runStatuses.filter((status) => isFinal(status)).sort()).toEqual([...finished].sort());
    expect([...pending, "running"].sort()).toEqual([...live].sort());
  });

  it("has a reason for every status that is not what a user hoped for", () => {
    for (const status of ["failed", "cancelled", "skipped", "retrying", "blocked"] as const) {
      expect(runStatusReasons[status].length).toBeGreaterThan(0);
    }
  });
});

function add(reached: Set<RunStatus>, result: ReturnType<typeof transitionRun>): void {
  if (result.ok) reached.add(result.status);
}
