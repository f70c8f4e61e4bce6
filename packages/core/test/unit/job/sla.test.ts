import { describe, expect, it } from "vitest";
import { latenessOf, slaTermsOf } from "../../../src/index.js";

const nominal = 1_000_000;
const sla = { startWithinMs: 60_000, finishWithinMs: 600_000 };

describe("what was promised of a run", () => {
  it.each(["schedule", "once", "run_now:1", "after:1:2"])(
    "counts an SLA from the nominal time of a run with trigger %s",
    (trigger) => {
      expect(slaTermsOf({ sla, trigger, nominal })).toEqual({ startBy: nominal + 60_000, finishBy: nominal + 600_000 });
    },
  );

  it.each(["retry:1", "replay:1:2", "backfill:1", "backfill"])(
    "is nothing where it makes up for the past: %s",
    (trigger) => {
      expect(slaTermsOf({ sla, trigger, nominal })).toBeNull();
    },
  );

  it("computes only the terms that the SLA names", () => {
    expect(slaTermsOf({ sla: undefined, trigger: "once", nominal })).toBeNull();
    expect(slaTermsOf({ sla: { finishWithinMs: 1 }, trigger: "once", nominal })).toEqual({
      startBy: null,
      finishBy: nominal + 1,
    });
  });

  it("ignores stored terms that are not durations", () => {
    expect(slaTermsOf({ sla: 5 as never, trigger: "once", nominal })).toBeNull();
    expect(slaTermsOf({ sla: { startWithinMs: "1m" as never }, trigger: "once", nominal })?.startBy).toBeNull();
  });

  it("counts an SLA as kept up to its last millisecond", () => {
    expect(latenessOf(nominal, nominal)).toBeNull();
    expect(latenessOf(nominal, nominal + 1)).toBe(1);
    expect(latenessOf(null, nominal)).toBeNull();
  });
});
