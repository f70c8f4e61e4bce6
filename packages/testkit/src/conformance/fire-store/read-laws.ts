import type { MaintenanceWindow } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, minute } from "./under-test.js";

/** Shards that no other test reads. */
const quiet = { first: 1_001, second: 1_002, third: 1_003 };

/** What load, loadRuns and windows answer. */
export function readLaws(under: () => FireStoreUnderTest): void {
  describe("answers", () => {
    it("the jobs of the shards that are due before an instant, as the wheel holds them", async () => {
      const { store, job, now } = under();
      const [near, far] = [now() - minute, now() + 60 * minute];
      const first = await job({ shard: quiet.first, dueAt: near });
      await job({ shard: quiet.second, dueAt: near });
      const last = await job({ shard: quiet.first, dueAt: far });
      const loaded = await store.load([quiet.first], far, 10);
      expect(loaded).toHaveLength(1);
      const { settledTo, ...row } = first;
      expect(loaded[0]).toMatchObject(row);
      expect(loaded[0]?.settledTo).not.toBe(settledTo);
      expect((await store.load([quiet.first], far + 1, 10)).map((one) => one.jobId)).toEqual([first.jobId, last.jobId]);
    });

    it("the nearest of each class where there are more than the limit", async () => {
      const { store, job, now } = under();
      const shard = quiet.third;
      const at = now() - 10 * minute;
      const jobs = [3, 1, 2].flatMap((minutes) =>
        [0, 2].map((urgency) => ({ shard, class: urgency, dueAt: at + minutes * minute })),
      );
      for (const wish of jobs) await job(wish);
      const loaded = await store.load([shard], now(), 2);
      expect(loaded.map((one) => [one.class, one.nominal - at])).toEqual([
        [0, minute],
        [0, 2 * minute],
        [2, minute],
        [2, 2 * minute],
      ]);
    });

    it("up to when a job is settled, the runs that it made, and what it still has to catch up with", async () => {
      const { store, job, setDue, now } = under();
      const { jobId, shard, nominal } = await job();
      const [before] = (await store.load([shard], now(), 100)).filter((one) => one.jobId === jobId);
      expect(before?.settledTo).toBeGreaterThan(nominal);
      const soon = now() + 60 * minute;
      await setDue(jobId, { firedThrough: soon, runsMade: 7, catchUpTo: nominal });
      const [after] = (await store.load([shard], now(), 100)).filter((one) => one.jobId === jobId);
      expect(after).toMatchObject({ settledTo: soon, runsMade: 7, catchUpTo: nominal });
    });

    it("a paused job whose pause ends, and none that has no end", async () => {
      const { store, job, setDue, now } = under();
      const [ends, stays] = [await job(), await job()];
      const until = now() + minute;
      await setDue(ends.jobId, { state: "paused", nominal: null, fireAt: until });
      await setDue(stays.jobId, { state: "paused", nominal: null, fireAt: null });
      const loaded = await store.load([ends.shard, stays.shard], until + 1, 100);
      expect(loaded.find((one) => one.jobId === ends.jobId)).toMatchObject({
        state: "paused",
        nominal: until,
        fireAt: until,
      });
      expect(loaded.some((one) => one.jobId === stays.jobId)).toBe(false);
    });

    it("runs that wait for their time, and queues those whose time has come [INV-5]", async () => {
      const { store, delayedRun, takeAll, now } = under();
      const fence = await takeAll();
      const [come, waits] = [await delayedRun(now() - minute), await delayedRun(now() + 60 * minute)];
      const ids = [come.id, waits.id];
      const asked = async (): Promise<string[]> =>
        (await store.loadRuns([come.shard, waits.shard], waits.runAt, 100))
          .map((run) => run.id)
          .filter((id) => ids.includes(id));
      expect(await asked()).toEqual([come.id]);
      expect((await store.promote(fence, ids)).map((run) => run.id)).toEqual([come.id]);
      expect(await store.promote(fence, ids)).toEqual([]);
      expect(await asked()).toEqual([]);
    });

    it("the windows in force, under a revision that grows with each change", async () => {
      const { store, setWindows } = under();
      const window: MaintenanceWindow = {
        name: "upgrade",
        mode: "hold",
        scope: { queue: "q" },
        time: { kind: "once", from: 0, to: 1 },
      };
      const { revision: before } = await store.windows();
      const revision = await setWindows([window]);
      expect(revision).toBeGreaterThan(before);
      const inForce = await store.windows();
      expect(inForce.revision).toBe(revision);
      expect([...inForce.byNamespace.values()]).toEqual([{ namespace: "default", windows: [window] }]);
      await setWindows([]);
    });
  });
}
