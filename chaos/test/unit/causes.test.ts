import { describe, expect, it } from "vitest";
import { mayBeLost, mayExplainRetry, undisturbedMs } from "../../src/judge/causes.js";
import type { DoneFault } from "../../src/judge/evidence.js";

const fault = (from: number, until: number, kind: DoneFault["kind"] = "kill"): DoneFault => ({
  kind,
  node: 0,
  from,
  until,
});

describe("the cause of a repeated attempt", () => {
  const costs = (one: DoneFault): boolean =>
    mayExplainRetry({ faults: [one], aftermathMs: 1_000 }, { from: 5_000, to: 9_000 });

  it("a fault between two attempts, or shortly before, explains the second one", () => {
    expect([fault(6_000, 7_000), fault(1_000, 4_000), fault(1_000, 9_500), fault(9_000, 9_900)].map(costs)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([fault(1_000, 3_999), fault(9_001, 9_900)].map(costs)).toEqual([false, false]);
  });

  it("a stall of the machine explains a repeated attempt, and a moved clock does not", () => {
    expect(costs(fault(6_000, 7_000, "stall"))).toBe(true);
    expect(costs(fault(6_000, 7_000, "clock"))).toBe(false);
  });
});

describe("what a failover may lose", () => {
  it("only what happened between the cut of the replication and the moment at which the last worker knows of it", () => {
    const seen = { faults: [fault(5_000, 7_000, "failover"), fault(1_000, 2_000)], aftermathMs: 500 };
    expect([1_500, 4_999, 5_000, 7_500, 7_501].map((at) => mayBeLost(seen, at))).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});

describe("the undisturbed time", () => {
  const span = { from: 1_000, to: 10_000, settleMs: 500 };

  it("the undisturbed time is all of a span without faults, and none of a span under one fault", () => {
    expect(undisturbedMs([fault(0, 400), fault(10_000, 12_000)], span)).toBe(9_000);
    expect(undisturbedMs([fault(0, 20_000)], span)).toBe(0);
  });

  it("the undisturbed time counts overlapping faults once, each with its time to settle", () => {
    expect(undisturbedMs([fault(4_000, 5_000), fault(2_000, 4_500), fault(0, 1_000)], span)).toBe(500 + 4_500);
  });
});
