import type { DueJob, Fired } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, fireOf, later, minute, termsOf } from "./under-test.js";

/** What becomes of an occurrence while a run of its job is live. */
export function overlapLaws(under: () => FireStoreUnderTest): void {
  const open = async () => {
    const one = under();
    const terms = await termsOf(one.store, await one.takeAll());
    const settle = async (job: DueJob): Promise<Fired | undefined> =>
      (await one.store.settle(terms, [fireOf(job)])).fired[0];
    return { ...one, terms, settle };
  };

  describe("while a run is live", () => {
    it("leaves occurrences out under skip, in one range that a fire ends [INV-11]", async () => {
      const { store, terms, job, ledger, runs, finishRun } = await open();
      const one = await job();
      await store.fire(terms, [fireOf(one)]);
      for (const nth of [1, 2]) {
        const [left] = await store.fire(terms, [fireOf(later(one, nth, 1))]);
        expect(left).toMatchObject({ outcome: "overlap", run: null, runsMade: 1 });
      }
      const [live] = await runs(one.jobId);
      await finishRun(live?.id ?? "");
      expect(await store.fire(terms, [fireOf(later(one, 3, 1))])).toMatchObject([{ outcome: "fired" }]);
      await store.fire(terms, [fireOf(later(one, 4, 2))]);
      expect(await ledger(one.jobId)).toMatchObject([
        { reason: "overlap", from: one.nominal + minute, to: one.nominal + 2 * minute, count: 2 },
        { reason: "overlap", from: one.nominal + 4 * minute, to: one.nominal + 4 * minute, count: 1 },
      ]);
    });

    it("refuses a fire that does not know of a run made by hand; where runs overlap it does not matter", async () => {
      const { store, terms, job, setDue } = await open();
      const [skips, allows] = [await job(), await job({ overlap: "allow" })];
      for (const { jobId } of [skips, allows]) await setDue(jobId, { runsMade: 3 });
      const fired = await store.fire(terms, [fireOf(skips), fireOf(allows)]);
      expect(fired.map((one) => one.jobId)).toEqual([allows.jobId]);
      expect(await store.fire(terms, [fireOf(later(skips, 0, 3))])).toMatchObject([{ runsMade: 4 }]);
    });

    it("lets one wait under queue_one, and the rest goes to the ledger [INV-11]", async () => {
      const { settle, job, runs, ledger } = await open();
      const one = await job({ overlap: "queue_one" });
      expect(await settle(one)).toMatchObject({ outcome: "fired", runsMade: 1 });
      expect(await settle(later(one, 1, 1))).toMatchObject({ outcome: "blocked", runsMade: 2 });
      expect(await settle(later(one, 2, 2))).toMatchObject({ outcome: "overlap", run: null, runsMade: 2 });
      expect(await settle(later(one, 3, 2))).toMatchObject({ outcome: "overlap" });
      expect(await runs(one.jobId)).toMatchObject([
        { state: "queued", serial: true },
        { state: "blocked", serial: true },
      ]);
      expect(await ledger(one.jobId)).toMatchObject([
        { reason: "overlap", from: one.nominal + 2 * minute, to: one.nominal + 3 * minute, count: 2 },
      ]);
    });

    it("lets all wait under queue_all", async () => {
      const { settle, job, runs } = await open();
      const one = await job({ overlap: "queue_all" });
      for (const nth of [0, 1, 2, 3]) await settle(later(one, nth, nth));
      expect((await runs(one.jobId)).map((run) => run.state)).toEqual(["queued", "blocked", "blocked", "blocked"]);
    });

    it("ends what waits and stops what runs under cancel_running", async () => {
      const { store, terms, settle, job, runs, ended, startRun } = await open();
      const one = await job({ overlap: "cancel_running" });
      await settle(one);
      expect(await settle(later(one, 1, 1))).toMatchObject({ outcome: "fired" });
      expect(await ended(one.jobId)).toEqual([
        { id: fireOf(one).runId, status: "cancelled", reason: "cancelled_by_overlap" },
      ]);
      const running = fireOf(later(one, 1, 1)).runId;
      await startRun(running);
      const { fired, stopped } = await store.settle(terms, [fireOf(later(one, 2, 2))]);
      expect(fired).toMatchObject([{ outcome: "blocked" }]);
      expect(stopped).toEqual([running]);
      expect(await runs(one.jobId)).toMatchObject([
        { id: running, state: "running", cancelReason: "cancelled_by_overlap" },
        { state: "blocked", cancelReason: null },
      ]);
    });

    it("notes an occurrence that had its run already, and one whose job is at its end completes it [INV-1]", async () => {
      const { settle, job, setDue, ledger, due } = await open();
      const [again, last] = [await job({ overlap: "queue_all" }), await job({ overlap: "queue_all", maxRuns: 1 })];
      await settle(again);
      await setDue(again.jobId, { nominal: again.nominal, fireAt: again.nominal, firedThrough: null });
      expect(await settle(later(again, 0, 1))).toMatchObject({ outcome: "duplicate", run: null });
      expect(await ledger(again.jobId)).toMatchObject([{ reason: "duplicate", from: again.nominal, count: 1 }]);
      expect(await settle(last)).toMatchObject({ outcome: "fired", isLast: true });
      expect(await due(last.jobId)).toMatchObject({ state: "completed", nominal: null, fireAt: null });
    });
  });
}
