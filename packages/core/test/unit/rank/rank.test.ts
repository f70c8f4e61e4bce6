import { boundOf, orderKinds, type QueueOrder, type RankedRun, rankOf } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const hour = 3_600_000;
const now = Date.UTC(2026, 2, 1);
const dues = fc.integer({ min: now, max: now + 48 * hour });
const runs: fc.Arbitrary<RankedRun> = fc.record(
  {
    dueMs: dues,
    priority: fc.integer({ min: 0, max: 9 }),
    deadlineMs: fc.integer({ min: now - hour, max: now + 96 * hour }),
    expectedMs: fc.integer({ min: 0, max: 96 * hour }),
  },
  { requiredKeys: ["dueMs", "priority"] },
);
const bounds = fc.integer({ min: 0, max: 48 * hour });
const orders: fc.Arbitrary<QueueOrder> = fc.record(
  { kind: fc.constantFrom(...orderKinds), boundMs: bounds },
  { requiredKeys: ["kind"] },
);

describe("rankOf", () => {
  it("a run waits only for runs that became due at most B later than itself", () => {
    fc.assert(
      fc.property(runs, runs, orders, (waiting, other, order) => {
        const bound = boundOf(order);
        fc.pre(bound !== null && rankOf(other, order) <= rankOf(waiting, order));
        expect(other.dueMs).toBeLessThanOrEqual(waiting.dueMs + (bound ?? 0));
      }),
      { numRuns: 2_000 },
    );
  });

  it("some run reaches the bound B, so that no smaller one would hold", () => {
    const order: QueueOrder = { kind: "priority", boundMs: 90_000 };
    const waiting = { dueMs: now, priority: 0 };
    expect(rankOf({ dueMs: now + 90_000, priority: 9 }, order)).toBe(rankOf(waiting, order));
    expect(rankOf({ dueMs: now + 90_001, priority: 9 }, order)).toBeGreaterThan(rankOf(waiting, order));
  });

  it("a rank is a safe integer for any instant", () => {
    const anyDue = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(runs, anyDue, orders, (run, dueMs, order) => {
        expect(Number.isSafeInteger(rankOf({ ...run, dueMs }, order))).toBe(true);
      }),
    );
  });

  it("the rank of a run with the default priority is its due time", () => {
    const ranks = fc.sample(dues).map((dueMs) => [dueMs, rankOf({ dueMs, priority: 4 })]);
    expect(ranks.filter(([dueMs, rank]) => dueMs !== rank)).toEqual([]);
  });

  it("ranks the more urgent of two runs with the same due time first, and the older of two equally urgent ones", () => {
    fc.assert(
      fc.property(dues, fc.integer({ min: 0, max: 8 }), fc.integer({ min: 1, max: hour }), (dueMs, priority, later) => {
        for (const kind of ["priority", "strict"] as const) {
          const rank = (run: RankedRun) => rankOf(run, { kind });
          expect(rank({ dueMs, priority: priority + 1 })).toBeLessThan(rank({ dueMs, priority }));
          expect(rank({ dueMs, priority })).toBeLessThan(rank({ dueMs: dueMs + later, priority }));
        }
      }),
    );
  });

  it("ranks fifo by due time alone", () => {
    const others = fc.sample(runs).filter((run) => rankOf(run, { kind: "fifo" }) !== run.dueMs);
    expect(others).toEqual([]);
  });

  it("ranks strict by priority before age", () => {
    const old = { dueMs: 0, priority: 3 };
    expect(rankOf({ dueMs: now, priority: 4 }, { kind: "strict" })).toBeLessThan(rankOf(old, { kind: "strict" }));
    expect(boundOf({ kind: "strict" })).toBeNull();
  });

  it("ranks edf by deadline, and uses the bound for a run without one", () => {
    const rank = (run: Partial<RankedRun>) => rankOf({ dueMs: now, priority: 4, ...run }, { kind: "edf" });
    expect(rank({ deadlineMs: now + hour })).toBe(now + hour);
    expect(rank({ dueMs: now + 1_000, deadlineMs: now + 2_000 })).toBeLessThan(rank({ deadlineMs: now + 3_000 }));
    expect(rank({})).toBe(now + 24 * hour);
    expect(rank({ deadlineMs: now + 1_000 * hour })).toBe(now + 24 * hour);
    expect(rank({ deadlineMs: now - hour })).toBe(now);
  });

  it("ranks sjf by expected duration, with aging", () => {
    const rank = (run: Partial<RankedRun>) => rankOf({ dueMs: now, priority: 4, ...run }, { kind: "sjf" });
    expect(rank({ expectedMs: 100 })).toBeLessThan(rank({ expectedMs: 200 }));
    expect(rank({ dueMs: now + 999, expectedMs: 100 })).toBeLessThan(rank({ expectedMs: 200 }));
    expect(rank({ dueMs: now + 1_001, expectedMs: 100 })).toBeGreaterThan(rank({ expectedMs: 200 }));
    expect(rank({ expectedMs: 100 * hour })).toBe(now + 1.5 * hour);
    expect(rank({})).toBe(now);
  });

  it("clamps a priority that is out of range", () => {
    expect(rankOf({ dueMs: now, priority: 12 })).toBe(rankOf({ dueMs: now, priority: 9 }));
    expect(rankOf({ dueMs: now, priority: -3 })).toBe(rankOf({ dueMs: now, priority: 0 }));
  });
});

describe("ageing", () => {
  /** Claims one run a minute, the due one of lowest rank; returns the runs in that order. */
  function claimed(all: readonly RankedRun[], order: QueueOrder): RankedRun[] {
    const waiting = [...all];
    const taken: RankedRun[] = [];
    for (let at = now; waiting.length > 0; at += minute) {
      const due = waiting.filter((run) => run.dueMs <= at);
      if (due.length === 0) continue;
      const next = due.reduce((best, run) => (rankOf(run, order) < rankOf(best, order) ? run : best));
      waiting.splice(waiting.indexOf(next), 1);
      taken.push(next);
    }
    return taken;
  }

  const minute = 60_000;
  const urgent = (count: number): RankedRun[] =>
    Array.from({ length: count }, (_, index) => ({ dueMs: now + index * minute, priority: 9, expectedMs: 0 }));

  it.each(["priority", "fifo", "edf", "sjf"] as const)(
    "under %s starts the least urgent run although urgent ones come as fast as they are served",
    (kind) => {
      const order = { kind, boundMs: 20 * minute };
      const least: RankedRun = { dueMs: now, priority: 0, expectedMs: 10 * hour, deadlineMs: now + 90 * hour };
      const at = claimed([least, ...urgent(100)], order).indexOf(least);
      expect(at).toBeLessThanOrEqual(21);
    },
  );

  it("no run waits for one that became due later than its bound, in any sequence of runs", () => {
    const near = fc.integer({ min: 0, max: 60 }).map((minutes) => now + minutes * minute);
    const crowd = fc.array(
      fc.record({ dueMs: near, priority: fc.integer({ min: 0, max: 9 }) }, { requiredKeys: ["dueMs", "priority"] }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(crowd, fc.integer({ min: 0, max: 30 }), (all, minutes) => {
        const boundMs = minutes * minute;
        const order = claimed(all, { kind: "priority", boundMs });
        for (const [index, run] of order.entries())
          for (const before of order.slice(0, index)) expect(before.dueMs).toBeLessThanOrEqual(run.dueMs + boundMs);
      }),
    );
  });
});
