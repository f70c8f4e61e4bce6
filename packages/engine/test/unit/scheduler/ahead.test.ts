import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import type { DueRun, PromotedRun } from "@carillon/store";
import { membershipOf } from "../../../src/cluster/shards.js";
import { Scheduler } from "../../../src/scheduler/scheduler.js";
import type { FireStore } from "../../../src/schedules/fire-store.js";
import { schedulerContext } from "../../harness/scheduler-context.js";

const start = Date.UTC(2026, 5, 1, 12);

/** A scheduler over a store that queues the given runs ahead of their time, except the refused ones. */
function setUp(
  runs: readonly DueRun[],
  { maxAhead = 100, refused = [] as readonly string[], isSupported = (): boolean => true } = {},
) {
  const clock = new ManualClock(start);
  const requests: { afterMs: number; ids: readonly string[] }[] = [];
  const promoted: PromotedRun[] = [];
  const store: Partial<FireStore> = {
    load: async () => [],
    loadRuns: async () => [...runs],
    release: async () => [],
    windows: async () => ({ revision: 0, byNamespace: new Map() }),
    async promote(_fence, ids, aheadMs = 0) {
      requests.push({ afterMs: clock.now() - start, ids });
      const due = runs.filter(({ id, runAt }) => ids.includes(id) && runAt <= clock.now() + aheadMs);
      const taken = due.filter(({ id, runAt }) => runAt <= clock.now() || !refused.includes(id));
      return taken.map(({ id, runAt }) => ({ id, lane: 1, rank: runAt, runAt }));
    },
  };
  const membership = membershipOf("n", new Map([[1, 1]]));
  const context = schedulerContext({
    now: () => clock.now(),
    membership: () => membership,
    onPromoted: (queued) => void promoted.push(...queued),
  });
  const scheduler = new Scheduler(context, {
    store: store as FireStore,
    limits: { maxAhead },
    hasFeature: isSupported,
  });
  /** Ticks as it asks for, until so long after the start. */
  const until = async (afterMs: number): Promise<void> => {
    for (await scheduler.tick(); clock.now() + scheduler.idleMs <= start + afterMs; await scheduler.tick())
      clock.advance(Math.max(1, scheduler.idleMs));
    clock.advance(start + afterMs - clock.now());
  };
  return { requests, promoted, until };
}

const run = (id: string, afterMs: number): DueRun => ({ id, shard: 1, runAt: start + afterMs });

describe("delayed runs", () => {
  it("a delayed run waits for its time while a node of the cluster does not support queueing ahead", async () => {
    const { requests, until } = setUp([run("a", 2_010), run("b", 2_020)], { isSupported: () => false });
    await until(3_000);
    expect(requests).toEqual([
      { afterMs: 2_010, ids: ["a"] },
      { afterMs: 2_020, ids: ["b"] },
    ]);
  });

  it("a delayed run is queued half a second to a second ahead of its time, with those of the same half second", async () => {
    const { requests, promoted, until } = setUp([run("a", 4_010), run("b", 4_490), run("c", 4_510)]);
    await until(6_000);
    expect(requests).toEqual([
      { afterMs: 3_500, ids: ["a", "b"] },
      { afterMs: 4_000, ids: ["c"] },
    ]);
    expect(promoted.map(({ id, runAt }) => [id, runAt - start])).toEqual([
      ["a", 4_010],
      ["b", 4_490],
      ["c", 4_510],
    ]);
  });

  it("a delayed run that cannot be queued ahead is queued at its time", async () => {
    const { requests, promoted, until } = setUp([run("a", 2_000), run("b", 2_010)], { refused: ["b"] });
    await until(4_000);
    expect(requests).toEqual([
      { afterMs: 1_500, ids: ["a", "b"] },
      { afterMs: 2_010, ids: ["b"] },
    ]);
    expect(promoted.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("a delayed run that cannot be queued ahead takes no slot of the runs that can", async () => {
    const { requests, until } = setUp([run("a", 2_499), run("b", 2_500)], { refused: ["a"], maxAhead: 1 });
    await until(4_000);
    expect(requests).toEqual([
      { afterMs: 1_500, ids: ["a"] },
      { afterMs: 2_000, ids: ["b"] },
      { afterMs: 2_499, ids: ["a"] },
    ]);
  });

  it("a delayed run waits for its time when too many are queued ahead, and others are queued ahead once these are due", async () => {
    const { requests, promoted, until } = setUp([run("a", 2_000), run("b", 2_001), run("c", 2_002), run("d", 3_000)], {
      maxAhead: 2,
    });
    await until(4_000);
    expect(requests.map(({ afterMs, ids }) => [afterMs, ids])).toEqual([
      [1_500, ["a", "b"]],
      [2_002, ["c"]],
      [2_500, ["d"]],
    ]);
    expect(promoted).toHaveLength(4);
  });
});
