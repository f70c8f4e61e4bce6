import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StallMonitor } from "../../src/cluster/stall-monitor.js";

const begin = Date.UTC(2026, 0, 5, 12);
/** The machine does nothing for so long, and then goes on. */
function stall(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
  vi.advanceTimersByTime(200);
}

describe("the watch over the machine", () => {
  beforeEach(() => void vi.useFakeTimers({ now: begin }));
  afterEach(() => void vi.useRealTimers());

  it("sees nothing where every look comes in time", () => {
    const watch = new StallMonitor(() => []);
    vi.advanceTimersByTime(60_000);
    watch.stop();
    expect(watch.stalls).toEqual([]);
    expect(watch.starvation).toBe(0);
  });

  it("notes a time in which it did not get to look, and the share of all such times", () => {
    const watch = new StallMonitor(() => []);
    vi.advanceTimersByTime(5_000);
    stall(2_000);
    vi.advanceTimersByTime(1_000);
    stall(800);
    watch.stop();
    expect(watch.stalls).toEqual([{ kind: "stall", node: null, from: begin + 5_000, until: begin + 7_200 }]);
    expect(watch.starvation).toBeCloseTo(2_800 / 9_200, 5);
  });

  it("asks nothing of a process that is gone", () => {
    const watch = new StallMonitor(() => [2 ** 30]);
    vi.advanceTimersByTime(10_000);
    watch.stop();
    expect(watch.stalls).toEqual([]);
  });
});
