import { defaultFiringPolicy, type Instant } from "@carillon/core";
import { describe, expect, it } from "vitest";
import type { DueJob } from "@carillon/store";
import { membershipOf } from "../../../src/cluster/shards.js";
import { DueWindow } from "../../../src/scheduler/due-window.js";
import { type ReadLimits, ShardReader } from "../../../src/scheduler/shard-reader.js";

const start = Date.UTC(2026, 5, 1, 12);
const definition = {
  namespaceId: 1,
  schedule: { kind: "manual" },
  firing: defaultFiringPolicy,
  priority: 4,
  task: "echo",
  queue: "default",
  labels: {},
} as const;

function job(id: number, over: Partial<DueJob> = {}): DueJob {
  const fireAt = over.fireAt ?? start;
  const when = { nominal: fireAt, fireAt, settledTo: start - 1, catchUpTo: null, runsMade: 0 };
  return { jobId: `job-${id}`, shard: 0, class: 1, state: "active", version: 1, ...when, definition, ...over };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** A reader over jobs in memory and a clock that stands still unless it is moved. */
function setUp(shards: number, limits: Partial<ReadLimits> = {}) {
  const stored = new Map<string, DueJob>();
  const reads: number[][] = [];
  let now = start;
  let readMs = 0;
  let failure: Error | null = null;
  const load = async (wanted: readonly number[], until: Instant, limit: number): Promise<DueJob[]> => {
    reads.push([...wanted]);
    now += readMs;
    if (failure !== null) throw failure;
    const due = [...stored.values()].filter((one) => one.fireAt < until).toSorted((a, b) => a.fireAt - b.fireAt);
    return wanted.flatMap((shard) =>
      [0, 1, 2].flatMap((kind) => due.filter((one) => one.shard === shard && one.class === kind).slice(0, limit)),
    );
  };
  const window = new DueWindow({ now: start });
  const membership = membershipOf("node", new Map(range(shards).map((shard) => [shard, 1])));
  const context = { now: () => now, membership: () => membership };
  const reader = new ShardReader(context, {
    store: { load, loadRuns: async () => [] },
    window,
    limits: { windowMs: 30_000, windowEntries: 1_000, rereadAfterMs: 100, ...limits },
  });
  return {
    stored,
    reads,
    window,
    reader,
    now: () => now,
    move: (ms: number) => (now += ms),
    slow: (ms: number) => (readMs = ms),
    fail: (error: Error | null) => (failure = error),
    put: (one: DueJob) => stored.set(one.jobId, one),
    /** Reads until nothing is to be read now. */
    async readAll(): Promise<void> {
      while (reader.nextRead <= now) await reader.read();
    },
  };
}

describe("ShardReader", () => {
  it("the reader reads every shard at the start and again each half window, a few shards per statement", async () => {
    const { reader, reads, readAll, move, now } = setUp(200);
    await readAll();
    expect(reads.flat().toSorted((a, b) => a - b)).toEqual(range(200));
    expect(reads.length).toBeGreaterThan(1);
    expect(reader.nextRead).toBe(now() + 15_000);
    reads.length = 0;
    move(15_000);
    await readAll();
    expect(reads.flat()).toHaveLength(200);
  });

  it("the reader reads everything when the clock has gone back, and serves requested reads again [INV-9]", async () => {
    const { reader, reads, readAll, move } = setUp(10);
    move(3_600_000);
    await readAll();
    reader.readAgain([{ shard: 3 }]);
    move(-3_600_000);
    reads.length = 0;
    await readAll();
    expect(new Set(reads.flat())).toEqual(new Set(range(10)));
    reads.length = 0;
    reader.readNow([4]);
    move(1_000);
    await readAll();
    expect(reads).toEqual([[4]]);
  });

  it("the reader holds the nearest rows of a shard with more rows than its share, and reads on as they drain until the end", async () => {
    const { put, readAll, window, now } = setUp(1, { windowEntries: 20 });
    for (const id of range(500)) put(job(id, { fireAt: start - 1_000 + (id % 7) }));
    const taken: string[] = [];
    for (let round = 0; round < 500 && taken.length < 500; round += 1) {
      await readAll();
      expect(window.size).toBeLessThanOrEqual(20);
      for (const one of window.takeDue(now(), 3).jobs) {
        taken.push(one.jobId);
        put({ ...one, fireAt: start + 86_400_000 });
      }
    }
    expect(taken.toSorted()).toEqual(
      range(500)
        .map((id) => `job-${id}`)
        .toSorted(),
    );
  });

  it("the reader reads on as one class drains, however many rows of other classes it holds [INV-1]", async () => {
    const { put, readAll, window, now } = setUp(1, { windowEntries: 20 });
    for (const id of range(10)) put(job(id, { class: 0, fireAt: start + 20_000 }));
    for (const id of range(100)) put(job(100 + id, { class: 2, fireAt: start - 1_000 }));
    let taken = 0;
    for (let round = 0; round < 50; round += 1) {
      await readAll();
      for (const one of window.takeDue(now(), 20).jobs) {
        taken += 1;
        put({ ...one, fireAt: start + 86_400_000 });
      }
    }
    expect(taken).toBe(100);
  });

  it("the reader admits rows that are due before the end of its last read of the shard, and reads the rest later", async () => {
    const { put, readAll, reader } = setUp(2, { windowEntries: 40 });
    for (const id of range(100)) put(job(id, { fireAt: start + 1_000 + id }));
    await readAll();
    expect(reader.admits({ shard: 0, at: start + 500, queue: 1 })).toBe(true);
    expect(reader.admits({ shard: 0, at: start + 1_019, queue: 1 })).toBe(false);
    expect(reader.admits({ shard: 1, at: start + 30_000, queue: 1 })).toBe(true);
    expect(reader.admits({ shard: 1, at: start + 30_001, queue: 1 })).toBe(false);
  });

  it("each class is read up to its own limit, so that a herd of another class does not hide it", async () => {
    const { put, readAll, window, now } = setUp(1, { windowEntries: 20 });
    for (const id of range(100)) put(job(id));
    put(job(1_000, { class: 0, fireAt: start + 5 }));
    await readAll();
    expect(window.takeDue(now() + 5, 10).jobs[0]).toMatchObject({ jobId: "job-1000" });
  });

  it("a full scan waits for a herd up to a bound, and needed reads do not wait", async () => {
    const { reader, window, readAll, reads, move, now } = setUp(10);
    await readAll();
    move(15_000);
    for (const id of range(3_000)) window.putJob(job(id, { fireAt: start + 14_999, shard: id % 10 }));
    reads.length = 0;
    reader.readNow([3]);
    await reader.read();
    expect(reads).toEqual([[3]]);
    await reader.read();
    expect(reads).toHaveLength(1);
    expect(reader.nextRead).toBeLessThanOrEqual(now());
    move(5_000);
    await readAll();
    expect(reads.flat().toSorted((a, b) => a - b)).toEqual(range(10));
  });

  it("the reader pauses after a requested read for a multiple of its duration", async () => {
    const { reader, readAll, slow, move, now } = setUp(1);
    await readAll();
    slow(50);
    reader.readNow([0]);
    await readAll();
    reader.readNow([0]);
    expect(reader.nextRead).toBe(now() + 200);
    move(200);
    slow(1);
    await readAll();
    reader.readNow([0]);
    expect(reader.nextRead).toBe(now() + 4);
  });

  it("the reader repeats a failed read", async () => {
    const { reader, readAll, fail, put, window, move } = setUp(1);
    put(job(1));
    fail(new Error("away"));
    await expect(reader.read()).rejects.toThrow("away");
    fail(null);
    move(100);
    await readAll();
    expect(window.size).toBe(1);
  });

  it("the reader forgets lost shards", async () => {
    const { reader, put, readAll } = setUp(1, { windowEntries: 16 });
    for (const id of range(50)) put(job(id));
    await readAll();
    expect(reader.admits({ shard: 0, at: start + 5, queue: 1 })).toBe(false);
    reader.forget([0]);
    expect(reader.admits({ shard: 0, at: start + 5, queue: 1 })).toBe(true);
  });

  it("the reader admits every row of the window while its shard is being read, because the read may report that it is complete", async () => {
    const { reader, put, readAll } = setUp(1, { windowEntries: 16 });
    for (const id of range(40)) put(job(id, { fireAt: start + 1_000 + id }));
    await readAll();
    const later = start + 20_000;
    expect(reader.admits({ shard: 0, at: later, queue: 1 })).toBe(false);
    reader.readNow([0]);
    const reading = reader.read();
    expect(reader.admits({ shard: 0, at: later, queue: 1 })).toBe(true);
    await reading;
    expect(reader.admits({ shard: 0, at: later, queue: 1 })).toBe(false);
  });
});
