import { describe, expect, it } from "vitest";
import type { EngineEvent } from "../../../src/events.js";
import { emitLateEnds } from "../../../src/runs/run-events.js";
import type { EndedLate } from "@carillon/store";

const run: EndedLate = {
  id: "a",
  jobId: null,
  namespaceId: 1,
  task: "echo",
  queue: "default",
  freedJobId: null,
  sla: { startWithinMs: 10, finishWithinMs: 20 },
  nominal: 1_000,
  trigger: "once",
  fence: 0,
  endedAt: 1_050,
};

function eventsOf(over: Partial<EndedLate>): unknown[] {
  const events: EngineEvent[] = [];
  emitLateEnds([{ ...run, ...over }], (event) => void events.push(event));
  return events.map((event) => event.type === "run.sla_breached" && [event.sla, event.dueAt, event.lateMs]);
}

describe("a run that the server ends later than its SLA", () => {
  it("a run that the server ends late is late at its start too, if no worker ever claimed it", () => {
    expect(eventsOf({})).toEqual([
      ["start", 1_010, 40],
      ["finish", 1_020, 30],
    ]);
    expect(eventsOf({ fence: 1 })).toEqual([["finish", 1_020, 30]]);
  });

  it("a run without an SLA, or one that ends in time, emits no event", () => {
    expect(eventsOf({ sla: null })).toEqual([]);
    expect(eventsOf({ endedAt: 1_010 })).toEqual([]);
    expect(eventsOf({ trigger: "backfill:b" })).toEqual([]);
  });
});
