import { describe, expect, it } from "vitest";
import type { Telling } from "../../../src/node/hints.js";
import { insertRunsNow } from "../../../src/node/inserts.js";
import type { NewRun, Notice, RunStore } from "../../../src/store/entities/runs.js";
import { newRun } from "../../harness/new-run.js";

const run = (rank: number): NewRun => newRun({ id: `id-${rank}`, rank });

const setUp = () => {
  const written: { runs: number; notice: Notice | null }[] = [];
  const store = {
    insertNow: async (runs: readonly NewRun[], notice: Notice | null) => {
      written.push({ runs: runs.length, notice });
      return 5;
    },
  } as Partial<RunStore> as RunStore;
  const told: { ranks: number[]; telling: Telling }[] = [];
  const inserts = insertRunsNow(
    store,
    { maxBatch: 100, maxQueued: 1_000 },
    {
      onQueued: (queued, telling) => told.push({ ranks: queued.map(({ rank }) => rank), telling }),
      noticeOf: (queued) => ({ channel: "c", payload: queued.map(({ rank }) => rank).join() }),
    },
  );
  return { written, told, inserts };
};

describe("a run that may start at once", () => {
  it("brings its hint along when it comes alone", async () => {
    const { written, told, inserts } = setUp();
    expect(await inserts.add(run(42))).toBe(5);
    expect(told).toEqual([{ ranks: [42], telling: "done" }]);
    expect(written).toEqual([{ runs: 1, notice: { channel: "c", payload: "42" } }]);
  });

  it("brings one hint for all that go in one batch, when that goes alone", async () => {
    const { written, told, inserts } = setUp();
    await Promise.all([1, 2, 3].map((rank) => inserts.add(run(rank))));
    expect(told).toEqual([{ ranks: [1, 2, 3], telling: "done" }]);
    expect(written).toEqual([{ runs: 3, notice: { channel: "c", payload: "1,2,3" } }]);
  });
});
