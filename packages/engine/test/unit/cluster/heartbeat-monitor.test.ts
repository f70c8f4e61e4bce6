import { describe, expect, it } from "vitest";
import { HeartbeatMonitor } from "../../../src/cluster/detection/heartbeat-monitor.js";
import { shardShare } from "../../../src/cluster/shards.js";

const one = (heartbeat: string) => [{ id: "a", heartbeat }];

describe("the heartbeat monitor", () => {
  it("reports a node that shows the same heartbeat for the whole limit", () => {
    const watch = new HeartbeatMonitor({ limitMs: 5_000, maxGapMs: 3_000 });
    expect(watch.observe(one("1"), 0)).toEqual([]);
    expect(watch.observe(one("1"), 2_500)).toEqual([]);
    expect(watch.observe(one("1"), 4_999)).toEqual([]);
    expect(watch.observe(one("1"), 5_000)).toEqual(one("1"));
  });

  it("counts the limit from the last change of the heartbeat", () => {
    const watch = new HeartbeatMonitor({ limitMs: 5_000, maxGapMs: 10_000 });
    watch.observe(one("1"), 0);
    watch.observe(one("2"), 4_000);
    expect(watch.observe(one("2"), 8_000)).toEqual([]);
    expect(watch.observe(one("2"), 9_000)).toEqual(one("2"));
  });

  it("starts every count again after a gap in its own reads", () => {
    const watch = new HeartbeatMonitor({ limitMs: 5_000, maxGapMs: 3_000 });
    watch.observe(one("1"), 0);
    expect(watch.observe(one("1"), 20_000)).toEqual([]);
    expect(watch.observe(one("1"), 22_000)).toEqual([]);
    expect(watch.observe(one("1"), 25_000)).toEqual(one("1"));
  });

  it("starts a new count for a node that left and returned", () => {
    const watch = new HeartbeatMonitor({ limitMs: 5_000, maxGapMs: 10_000 });
    watch.observe(one("1"), 0);
    watch.observe([], 1_000);
    watch.observe(one("1"), 2_000);
    expect(watch.observe(one("1"), 6_000)).toEqual([]);
  });
});

describe("the share of shards", () => {
  it("adds up to all shards for any number of nodes", () => {
    for (let count = 1; count <= 40; count++) {
      const nodes = Array.from({ length: count }, (_, i) => `n${i}`);
      const total = nodes.reduce((sum, node) => sum + shardShare(1_024, nodes, node), 0);
      expect(total).toBe(1_024);
    }
  });
});
