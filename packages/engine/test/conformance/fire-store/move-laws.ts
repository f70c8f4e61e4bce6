import type { MaintenanceWindow } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, fireOf, holdOf, later, minute, passOf, termsOf } from "./under-test.js";

/** The effect of pass, hold, release and park. */
export function moveLaws(under: () => FireStoreUnderTest): void {
  const open = async () => {
    const one = under();
    return { ...one, terms: await termsOf(one.store, await one.takeAll()) };
  };

  describe("passes over occurrences", () => {
    it("passes over occurrences with one ledger range while the reason repeats [INV-11]", async () => {
      const { store, terms, job, ledger, due, runs } = await open();
      const one = await job();
      expect(await store.pass(terms, [passOf(one, 3)])).toEqual([one.jobId]);
      expect(await store.pass(terms, [passOf(later(one, 3, 0), 2)])).toEqual([one.jobId]);
      expect(await store.pass(terms, [passOf(later(one, 5, 0), 1, { reason: "window", detail: "w" })])).toEqual([
        one.jobId,
      ]);
      expect(await store.pass(terms, [passOf(later(one, 6, 0), 1)])).toEqual([one.jobId]);
      const at = (minutes: number): number => one.nominal + minutes * minute;
      expect(await ledger(one.jobId)).toEqual([
        { version: 1, reason: "missed", from: at(0), to: at(4), count: 5, detail: null },
        { version: 1, reason: "window", from: at(5), to: at(5), count: 1, detail: "w" },
        { version: 1, reason: "missed", from: at(6), to: at(6), count: 1, detail: null },
      ]);
      expect(await due(one.jobId)).toMatchObject({ nominal: at(7), fireAt: at(7), firedThrough: at(6), firedCount: 0 });
      expect(await runs(one.jobId)).toEqual([]);
    });

    it("drops a detail that does not apply to the whole ledger range", async () => {
      const { store, terms, job, ledger } = await open();
      const one = await job();
      for (const [nth, detail] of ["a", "a", "b"].entries()) {
        await store.pass(terms, [passOf(later(one, nth, 0), 1, { reason: "window", detail })]);
        expect((await ledger(one.jobId))[0]?.detail).toBe(nth < 2 ? "a" : null);
      }
    });

    it("completes a job that passes over the last occurrence of its rule", async () => {
      const { store, terms, job, due } = await open();
      const one = await job();
      await store.pass(terms, [{ ...passOf(one), next: null, catchUpTo: one.nominal }]);
      expect(await due(one.jobId)).toMatchObject({
        state: "completed",
        nominal: null,
        fireAt: null,
        catchUpTo: one.nominal,
      });
    });
  });

  describe("the clock of the store", () => {
    it("refuses to pass or hold for a caller whose clock is ahead [INV-11]", async () => {
      const { store, terms, job, due, ledger, now } = await open();
      const one = await job();
      const ahead = { ...terms, asOf: now() + minute };
      expect(await store.pass(ahead, [passOf(one)])).toEqual([]);
      expect(await store.hold(ahead, [holdOf(one, now() + minute)])).toEqual([]);
      expect(await ledger(one.jobId)).toEqual([]);
      expect(await due(one.jobId)).toMatchObject({ nominal: one.nominal, fireAt: one.fireAt });
      expect(await store.pass({ ...terms, asOf: now() }, [passOf(one)])).toEqual([one.jobId]);
    });
  });

  describe("holds an occurrence", () => {
    it("holds an occurrence until its window is over, with the same nominal instant", async () => {
      const { store, terms, job, due, now } = await open();
      const one = await job();
      const until = now() + 60 * minute;
      expect(await store.hold(terms, [holdOf(one, until)])).toEqual([one.jobId]);
      expect(await due(one.jobId)).toMatchObject({
        nominal: one.nominal,
        fireAt: until,
        stateReason: `held ${terms.windows}`,
      });
      expect(await store.fire(terms, [fireOf(one)])).toEqual([]);
    });

    it("makes a held occurrence due when the windows change, not before", async () => {
      const { store, terms, job, due, now, setWindows } = await open();
      const one = await job();
      await store.hold(terms, [holdOf(one, now() + 60 * minute)]);
      expect(await store.release(terms)).not.toContain(one.shard);
      const windows = await setWindows([]);
      const before = now();
      expect(await store.release({ ...terms, windows })).toContain(one.shard);
      const { fireAt, stateReason } = await due(one.jobId);
      expect(stateReason).toBeNull();
      expect(fireAt).toBeGreaterThanOrEqual(before);
      expect(await store.fire({ ...terms, windows }, [fireOf(one)])).toHaveLength(1);
    });
  });

  describe("park", () => {
    const pause = { reason: "quarantined: broken", actor: "system", at: 0, until: null, missed: "none" } as const;

    it("pauses a job that cannot be fired without an end, under a new version", async () => {
      const { store, terms, job, due } = await open();
      const one = await job();
      expect(await store.quarantine(terms.fence, [{ job: one, pause }])).toEqual([one.jobId]);
      expect(await due(one.jobId)).toMatchObject({ state: "paused", version: 2, nominal: null, fireAt: null });
      expect(await store.fire(terms, [fireOf(one)])).toEqual([]);
      expect(await store.quarantine(terms.fence, [{ job: one, pause }])).toEqual([]);
    });

    it("does not pause a job whose definition changed, whose row is locked, or under an old epoch [INV-2]", async () => {
      const { store, terms, job, due, setDue, holding, takeAll } = await open();
      const [changed, held] = [await job(), await job()];
      await setDue(changed.jobId, { version: 2 });
      expect(await store.quarantine(terms.fence, [{ job: changed, pause }])).toEqual([]);
      expect(await holding([held.jobId], () => store.quarantine(terms.fence, [{ job: held, pause }]))).toEqual([]);
      await takeAll();
      expect(await store.quarantine(terms.fence, [{ job: held, pause }])).toEqual([]);
      expect(await due(held.jobId)).toMatchObject({ state: "active", version: 1 });
    });
  });
}

/** Shards that no other test uses. */
const quiet = { first: 1_001, second: 1_002, third: 1_003 };

/** The results of load, loadRuns and windows. */
export function readLaws(under: () => FireStoreUnderTest): void {
  describe("answers", () => {
    it("loads the jobs of the shards that are due before an instant", async () => {
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

    it("loads the earliest jobs of each class up to the limit", async () => {
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

    it("loads the settled instant of a job, its run count, and the end of its catch-up", async () => {
      const { store, job, setDue, now } = under();
      const { jobId, shard, nominal } = await job();
      const [before] = (await store.load([shard], now(), 100)).filter((one) => one.jobId === jobId);
      expect(before?.settledTo).toBeGreaterThan(nominal);
      const soon = now() + 60 * minute;
      await setDue(jobId, { firedThrough: soon, runsMade: 7, catchUpTo: nominal });
      const [after] = (await store.load([shard], now(), 100)).filter((one) => one.jobId === jobId);
      expect(after).toMatchObject({ settledTo: soon, runsMade: 7, catchUpTo: nominal });
    });

    it("loads a paused job if its pause has an end", async () => {
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

    it("loads delayed runs, and queues those that are due [INV-5]", async () => {
      const { store, delayedRun, takeAll, now } = under();
      const fence = await takeAll();
      const [due, waits] = [await delayedRun(now() - minute), await delayedRun(now() + 60 * minute)];
      const ids = [due.id, waits.id];
      const loadedIds = async (): Promise<string[]> =>
        (await store.loadRuns([...new Set([due.shard, waits.shard])], waits.runAt, 100))
          .map((run) => run.id)
          .filter((id) => ids.includes(id));
      expect(await loadedIds()).toEqual([due.id]);
      expect((await store.promote(fence, ids)).map((run) => run.id)).toEqual([due.id]);
      expect(await store.promote(fence, ids)).toEqual([]);
      expect(await loadedIds()).toEqual([]);
    });

    it("reads the maintenance windows, under a revision that grows with each change", async () => {
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
