import { describe, expect, it } from "vitest";
import type { DirectInserted } from "../../../src/enqueue/direct-insert.js";
import type { NotifyMode } from "../../../src/wakeups/wakeups.js";
import { insertRunsNow } from "../../../src/enqueue/coalesced-inserts.js";
import type { NewRun, Notice, RunStore } from "@carillon/store";
import { newRun } from "../../harness/new-run.js";

const run = (rank: number): NewRun => newRun({ id: `id-${rank}`, rank });

/** `direct`: the outcome of the direct insert. */
const setUp = (direct?: (runs: readonly NewRun[]) => Promise<DirectInserted | null>) => {
  const written: { runs: number; notice: Notice | null }[] = [];
  const gate = { opens: Promise.resolve() };
  const store = {
    insertNow: async (runs: readonly NewRun[], notice: Notice | null) => {
      written.push({ runs: runs.length, notice });
      await gate.opens;
      return 5;
    },
  } as Partial<RunStore> as RunStore;
  const told: { ranks: number[]; telling: NotifyMode }[] = [];
  const inserts = insertRunsNow(
    store,
    { maxBatch: 100, maxQueued: 1_000 },
    {
      onQueued: (queued, telling) => told.push({ ranks: queued.map(({ rank }) => rank), telling }),
      noticeOf: (queued) => ({ channel: "c", payload: queued.map(({ rank }) => rank).join() }),
      ...(direct && { direct: { insert: direct } }),
    },
  );
  return { written, told, inserts, gate };
};

describe("a run that may start at once", () => {
  it("brings its hint along when it comes alone", async () => {
    const { written, told, inserts } = setUp();
    expect(await inserts.add(run(42))).toBe(5);
    expect(told).toEqual([{ ranks: [42], telling: "sent" }]);
    expect(written).toEqual([{ runs: 1, notice: { channel: "c", payload: "42" } }]);
  });

  it("brings one hint for all that go in one batch, when that goes alone", async () => {
    const { written, told, inserts } = setUp();
    await Promise.all([1, 2, 3].map((rank) => inserts.add(run(rank))));
    expect(told).toEqual([{ ranks: [1, 2, 3], telling: "sent" }]);
    expect(written).toEqual([{ runs: 3, notice: { channel: "c", payload: "1,2,3" } }]);
  });
});

describe("a run that a worker may have offered to take", () => {
  it("is told of to nobody else when the worker has it", async () => {
    const { written, told, inserts } = setUp(async () => ({ at: 7, isAssigned: true }));
    expect(await inserts.add(run(42))).toBe(7);
    expect([written, told]).toEqual([[], []]);
  });

  it("is queued when the worker is gone: this node looks, and the others were told", async () => {
    const { written, told, inserts } = setUp(async () => ({ at: 7, isAssigned: false }));
    expect(await inserts.add(run(42))).toBe(7);
    expect(written).toEqual([]);
    expect(told).toEqual([{ ranks: [42], telling: "sent" }]);
  });

  it("is stored as any other when nobody offered", async () => {
    const { written, told, inserts } = setUp(async () => null);
    expect(await inserts.add(run(42))).toBe(5);
    expect(written).toEqual([{ runs: 1, notice: { channel: "c", payload: "42" } }]);
    expect(told).toEqual([{ ranks: [42], telling: "sent" }]);
  });

  it("goes with all of its batch, in their order", async () => {
    const batches: number[][] = [];
    const { inserts } = setUp(async (runs) => {
      batches.push(runs.map(({ rank }) => rank));
      return { at: 7, isAssigned: true };
    });
    expect(await Promise.all([1, 2, 3].map((rank) => inserts.add(run(rank))))).toEqual([7, 7, 7]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it("is not inserted directly while another batch is under way", async () => {
    let asked = 0;
    const { written, told, inserts, gate } = setUp(async () => {
      asked++;
      return null;
    });
    let open: () => void = () => undefined;
    gate.opens = new Promise((resolve) => (open = resolve));
    const first = inserts.add(run(0));
    while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // As many as are worth a write beside the one that is under way.
    const others = Array.from({ length: 16 }, (_, index) => inserts.add(run(index + 1)));
    while (written.length === 1) await new Promise((resolve) => setImmediate(resolve));
    open();
    await Promise.all([first, ...others]);
    expect(asked).toBe(1);
    expect(written).toEqual([
      { runs: 1, notice: { channel: "c", payload: "0" } },
      { runs: 16, notice: null },
    ]);
    expect(told.map(({ telling }) => telling)).toEqual(["sent", "batched"]);
  });
});
