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
  const wakeups: { ranks: number[]; mode: NotifyMode }[] = [];
  const inserts = insertRunsNow(
    store,
    { maxBatch: 100, maxQueued: 1_000 },
    {
      onQueued: (queued, mode) => wakeups.push({ ranks: queued.map(({ rank }) => rank), mode }),
      noticeFor: (queued) => ({ channel: "c", payload: queued.map(({ rank }) => rank).join() }),
      ...(direct && { direct: { insert: direct } }),
    },
  );
  return { written, wakeups, inserts, gate };
};

describe("insertRunsNow", () => {
  it("the insert of a single run sends its notice in the same statement", async () => {
    const { written, wakeups, inserts } = setUp();
    expect(await inserts.add(run(42))).toBe(5);
    expect(wakeups).toEqual([{ ranks: [42], mode: "sent" }]);
    expect(written).toEqual([{ runs: 1, notice: { channel: "c", payload: "42" } }]);
  });

  it("the insert of a batch that is written alone sends one notice for all of its runs", async () => {
    const { written, wakeups, inserts } = setUp();
    await Promise.all([1, 2, 3].map((rank) => inserts.add(run(rank))));
    expect(wakeups).toEqual([{ ranks: [1, 2, 3], mode: "sent" }]);
    expect(written).toEqual([{ runs: 3, notice: { channel: "c", payload: "1,2,3" } }]);
  });
});

describe("insertRunsNow with slot offers", () => {
  it("a run that is stored for the worker of an offer wakes no gateway", async () => {
    const { written, wakeups, inserts } = setUp(async () => ({ at: 7, isAssigned: true }));
    expect(await inserts.add(run(42))).toBe(7);
    expect([written, wakeups]).toEqual([[], []]);
  });

  it("a run for the worker of an offer that is gone is queued: the gateway of this node is woken, and the statement has notified the others", async () => {
    const { written, wakeups, inserts } = setUp(async () => ({ at: 7, isAssigned: false }));
    expect(await inserts.add(run(42))).toBe(7);
    expect(written).toEqual([]);
    expect(wakeups).toEqual([{ ranks: [42], mode: "sent" }]);
  });

  it("a run without a slot offer is stored by the usual insert", async () => {
    const { written, wakeups, inserts } = setUp(async () => null);
    expect(await inserts.add(run(42))).toBe(5);
    expect(written).toEqual([{ runs: 1, notice: { channel: "c", payload: "42" } }]);
    expect(wakeups).toEqual([{ ranks: [42], mode: "sent" }]);
  });

  it("all runs of a batch are stored for the worker of the offer, in their order", async () => {
    const batches: number[][] = [];
    const { inserts } = setUp(async (runs) => {
      batches.push(runs.map(({ rank }) => rank));
      return { at: 7, isAssigned: true };
    });
    expect(await Promise.all([1, 2, 3].map((rank) => inserts.add(run(rank))))).toEqual([7, 7, 7]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it("runs are not stored for the worker of an offer while another batch is under way", async () => {
    let attempts = 0;
    const { written, wakeups, inserts, gate } = setUp(async () => {
      attempts++;
      return null;
    });
    let open: () => void = () => undefined;
    gate.opens = new Promise((resolve) => (open = resolve));
    const first = inserts.add(run(0));
    while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // Enough for a second write beside the one that is under way.
    const others = Array.from({ length: 16 }, (_, index) => inserts.add(run(index + 1)));
    while (written.length === 1) await new Promise((resolve) => setImmediate(resolve));
    open();
    await Promise.all([first, ...others]);
    expect(attempts).toBe(1);
    expect(written).toEqual([
      { runs: 1, notice: { channel: "c", payload: "0" } },
      { runs: 16, notice: null },
    ]);
    expect(wakeups.map(({ mode }) => mode)).toEqual(["sent", "batched"]);
  });
});
