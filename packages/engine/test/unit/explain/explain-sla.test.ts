import { describe, expect, it } from "vitest";
import { withSla } from "../../../src/explain/explain-run.js";
import type { RunView } from "../../../src/runs/run-reader.js";

const due = Date.parse("2026-11-12T08:00:00.000Z");
const sla = { startWithinMs: 60_000, finishWithinMs: 600_000 };
const waits = {
  code: "position",
  detail: "position 1 of 1 in queue mail",
  until: null,
  facts: { position: 1 },
} as const;

function explain(over: Partial<RunView>, now: number) {
  const trigger = { kind: "schedule", id: null, scheduledFor: due } as const;
  const run = { status: "queued", trigger, policy: { sla }, startedAt: null, finishedAt: null, attempts: [], ...over };
  return withSla(waits, run as unknown as RunView, now);
}

describe("the SLA in an explanation", () => {
  it("says how much later than its SLA a live run starts or ends", () => {
    expect(explain({}, due + 60_000)).toEqual(waits);
    expect(explain({}, due + 75_000)).toMatchObject({
      detail: "position 1 of 1 in queue mail; it was to start by 2026-11-12T08:01:00.000Z and is 15s late",
      facts: { position: 1, sla_start_late_ms: 15_000 },
    });
    const runs = explain({ status: "running", startedAt: due + 1 }, due + 601_000);
    expect(runs.facts).toEqual({ position: 1, sla_finish_late_ms: 1_000 });
  });

  it("says how late an ended run was, and leaves cancelled runs out", () => {
    const over = { startedAt: due + 61_000, finishedAt: due + 70_000 } as const;
    expect(explain({ status: "succeeded", ...over }, due + 9_000_000).facts).toEqual({
      position: 1,
      sla_start_late_ms: 1_000,
    });
    expect(explain({ status: "cancelled", ...over }, due + 9_000_000)).toEqual(waits);
  });
});
