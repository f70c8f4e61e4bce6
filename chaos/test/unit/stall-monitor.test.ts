import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StallMonitor } from "../../src/cluster/stall-monitor.js";

const begin = Date.UTC(2026, 0, 5, 12);
/** The process gets no CPU time for this long. */
function stall(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
  vi.advanceTimersByTime(200);
}

describe("the stall monitor", () => {
  beforeEach(() => void vi.useFakeTimers({ now: begin }));
  afterEach(() => void vi.useRealTimers());

  it("the stall monitor reports no stall if every sample is on time", () => {
    const watch = new StallMonitor(() => []);
    vi.advanceTimersByTime(60_000);
    watch.stop();
    expect(watch.stalls).toEqual([]);
    expect(watch.starvation).toBe(0);
  });

  it("the stall monitor records a late sample as a stall, and the share of all late time", () => {
    const watch = new StallMonitor(() => []);
    vi.advanceTimersByTime(5_000);
    stall(2_000);
    vi.advanceTimersByTime(1_000);
    stall(800);
    watch.stop();
    expect(watch.stalls).toEqual([{ kind: "stall", node: null, from: begin + 5_000, until: begin + 7_200 }]);
    expect(watch.starvation).toBeCloseTo(2_800 / 9_200, 5);
  });

  it("the stall monitor ignores a process that has exited", () => {
    const watch = new StallMonitor(() => [2 ** 30]);
    vi.advanceTimersByTime(10_000);
    watch.stop();
    expect(watch.stalls).toEqual([]);
  });
});
