import { describe, expect, it } from "vitest";
import { quotaOf } from "../../../src/cluster/shards/shard-share.js";
import { SilenceWatch } from "../../../src/cluster/detection/heartbeat-monitor.js";

const one = (heartbeat: string) => [{ id: "a", heartbeat }];

describe("the watch for silence", () => {
  it("names who showed the same heartbeat for the whole limit", () => {
    const watch = new SilenceWatch({ limitMs: 5_000, longestGapMs: 3_000 });
    expect(watch.observe(one("1"), 0)).toEqual([]);
    expect(watch.observe(one("1"), 2_500)).toEqual([]);
    expect(watch.observe(one("1"), 4_999)).toEqual([]);
    expect(watch.observe(one("1"), 5_000)).toEqual(one("1"));
  });

  it("counts from the last change", () => {
    const watch = new SilenceWatch({ limitMs: 5_000, longestGapMs: 10_000 });
    watch.observe(one("1"), 0);
    watch.observe(one("2"), 4_000);
    expect(watch.observe(one("2"), 8_000)).toEqual([]);
    expect(watch.observe(one("2"), 9_000)).toEqual(one("2"));
  });

  it("starts every count again after a gap in its own reads", () => {
    const watch = new SilenceWatch({ limitMs: 5_000, longestGapMs: 3_000 });
    watch.observe(one("1"), 0);
    expect(watch.observe(one("1"), 20_000)).toEqual([]);
    expect(watch.observe(one("1"), 22_000)).toEqual([]);
    expect(watch.observe(one("1"), 25_000)).toEqual(one("1"));
  });

  it("forgets who left, so that a return starts a new count", () => {
    const watch = new SilenceWatch({ limitMs: 5_000, longestGapMs: 10_000 });
    watch.observe(one("1"), 0);
    watch.observe([], 1_000);
    watch.observe(one("1"), 2_000);
    expect(watch.observe(one("1"), 6_000)).toEqual([]);
  });
});

describe("the quota of shards", () => {
  it("adds up to all shards for any number of nodes", () => {
    for (let count = 1; count <= 40; count++) {
      const nodes = Array.from({ length: count }, (_, i) => `n${i}`);
      const total = nodes.reduce((sum, node) => sum + quotaOf(1_024, nodes, node), 0);
      expect(total).toBe(1_024);
    }
  });
});
