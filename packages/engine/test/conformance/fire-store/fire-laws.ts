import type { DueJob, Fired } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, fireOf, later, minute, termsOf } from "./under-test.js";

/** The effect of a fire on a job with overlap policy allow or skip. */
export function fireLaws(under: () => FireStoreUnderTest): void {
  const open = async () => {
    const one = under();
    return { ...one, terms: await termsOf(one.store, await one.takeAll()) };
  };

  describe("fires", () => {
    it("fires an occurrence once, for any number of calls [INV-1]", async () => {
      const { store, terms, job, runs, due } = await open();
      const one = await job();
      const answers = await Promise.all([1, 2, 3, 4].map(() => store.fire(terms, [fireOf(one)])));
      expect(answers.flat()).toMatchObject([{ jobId: one.jobId, outcome: "fired", isLast: false, runsMade: 1 }]);
      expect(await runs(one.jobId)).toMatchObject([{ state: "queued", nominal: one.nominal, runAt: one.fireAt }]);
      expect(await due(one.jobId)).toMatchObject({
        state: "active",
        nominal: one.nominal + minute,
        fireAt: one.nominal + minute,
        firedThrough: one.nominal,
        firedCount: 1,
        runsMade: 1,
        runIds: [fireOf(one).runId],
      });
    });

    it("fires a run with the task, the payload and the version of the job", async () => {
      const { store, terms, job, runs } = await open();
      const one = await job({ overlap: "allow" });
      const [fired] = await store.fire(terms, [fireOf(one)]);
      const [run] = await runs(one.jobId);
      expect(run).toMatchObject({ task: "echo", payload: { n: 1 }, version: 1, untracked: true, serial: false });
      expect(fired?.run).toMatchObject({ id: run?.id, rank: one.fireAt });
    });

    it("does not fire an occurrence twice although its row was reset: the ledger has a duplicate [INV-1]", async () => {
      const { store, terms, job, runs, ledger, setDue } = await open();
      const one = await job({ overlap: "allow" });
      await store.fire(terms, [fireOf(one)]);
      await setDue(one.jobId, { nominal: one.nominal, fireAt: one.nominal, firedThrough: null });
      expect(await store.fire(terms, [fireOf(one)])).toMatchObject([{ outcome: "duplicate", run: null }]);
      expect(await runs(one.jobId)).toHaveLength(1);
      expect(await ledger(one.jobId)).toMatchObject([{ reason: "duplicate", from: one.nominal, count: 1 }]);
    });

    it("fires the other jobs of a batch in which one row was reset [INV-1]", async () => {
      const { store, terms, job, runs, setDue } = await open();
      const jobs = [await job(), await job(), await job({ overlap: "allow" })];
      const [back] = jobs;
      if (back === undefined) throw new Error("The batch is empty.");
      await store.fire(terms, [fireOf(back)]);
      await setDue(back.jobId, {
        nominal: back.nominal,
        fireAt: back.nominal,
        firedThrough: null,
        runsMade: 0,
        runIds: [],
      });
      const answers = await store.fire(
        terms,
        jobs.map((one) => fireOf(one)),
      );
      const outcomes = new Map(answers.map(({ jobId, outcome }) => [jobId, outcome]));
      expect(jobs.map(({ jobId }) => outcomes.get(jobId))).toEqual(["duplicate", "fired", "fired"]);
      for (const { jobId } of jobs) expect(await runs(jobId)).toHaveLength(1);
    });

    it("fires each job of a batch with its own run, rank and next time", async () => {
      const { store, terms, job, runs, due } = await open();
      const jobs = await Promise.all([0, 1, 2, 3, 4, 5].map(() => job()));
      const rows = jobs.map((one, nth) => {
        const nominal = one.nominal + (1 + (nth % 2)) * minute;
        const next = nth === 5 ? null : { nominal, fireAt: nominal + (nth === 4 ? 7 : 0) };
        return fireOf(one, { next, rank: nth % 3, catchUpTo: nth === 3 ? one.nominal : null });
      });
      expect(await store.fire(terms, rows)).toHaveLength(rows.length);
      for (const { job: one, runId, next, catchUpTo } of rows) {
        expect(await runs(one.jobId)).toMatchObject([{ id: runId, nominal: one.nominal }]);
        const { nominal = null, fireAt = null } = next ?? {};
        expect(await due(one.jobId)).toMatchObject({ nominal, fireAt, catchUpTo, runIds: [runId] });
      }
    });

    it("completes a job with its last run under max_runs", async () => {
      const { store, terms, job, due } = await open();
      const one = await job({ overlap: "allow", maxRuns: 2 });
      expect(await store.fire(terms, [fireOf(one)])).toMatchObject([{ isLast: false }]);
      expect(await store.fire(terms, [fireOf(later(one, 1, 1))])).toMatchObject([{ outcome: "fired", isLast: true }]);
      expect(await due(one.jobId)).toMatchObject({ state: "completed", nominal: null, fireAt: null, firedCount: 2 });
    });

    it("completes a job with the last occurrence of its rule", async () => {
      const { store, terms, job, due } = await open();
      const one = await job();
      expect(await store.fire(terms, [fireOf(one, { next: null })])).toMatchObject([
        { outcome: "fired", isLast: false },
      ]);
      expect(await due(one.jobId)).toMatchObject({ state: "completed", nominal: null, fireAt: null });
    });

    it("keeps the end of a catch-up until a fire changes it", async () => {
      const { store, terms, job, due, setDue } = await open();
      const one = await job({ overlap: "allow" });
      await setDue(one.jobId, { catchUpTo: one.nominal });
      await store.fire(terms, [fireOf(one)]);
      expect(await due(one.jobId)).toMatchObject({ catchUpTo: one.nominal });
      await store.fire(terms, [fireOf(later(one, 1, 1), { catchUpTo: one.nominal + minute })]);
      expect(await due(one.jobId)).toMatchObject({ catchUpTo: one.nominal + minute });
    });

    it("writes additional ledger entries once: a refused fire writes none [INV-11]", async () => {
      const { store, terms, job, ledger } = await open();
      const one = await job();
      const note = {
        reason: "calendar",
        from: one.nominal - 9,
        to: one.nominal - 5,
        count: 3,
        detail: "rest",
      } as const;
      const fire = fireOf(one, { notes: [note] });
      await store.fire(terms, [fire]);
      expect(await store.fire(terms, [fire])).toEqual([]);
      expect(await ledger(one.jobId)).toEqual([{ ...note, version: 1 }]);
    });

    it("does not fire jobs with an overlap policy that queues or cancels runs", async () => {
      const { store, terms, job, runs } = await open();
      for (const overlap of ["queue_one", "queue_all", "cancel_running"] as const) {
        const one = await job({ overlap });
        expect(await store.fire(terms, [fireOf(one)])).toEqual([]);
        expect(await runs(one.jobId)).toEqual([]);
      }
    });
  });
}

/** How an occurrence is handled while a run of its job is live. */
export function overlapLaws(under: () => FireStoreUnderTest): void {
  const open = async () => {
    const one = under();
    const terms = await termsOf(one.store, await one.takeAll());
    const settle = async (job: DueJob): Promise<Fired | undefined> =>
      (await one.store.settle(terms, [fireOf(job)])).fired[0];
    return { ...one, terms, settle };
  };

  describe("while a run is live", () => {
    it("skips occurrences under skip, in one ledger range that a fire ends [INV-11]", async () => {
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

    it("refuses a fire that is unaware of a run-now, except under overlap allow", async () => {
      const { store, terms, job, setDue } = await open();
      const [skips, allows] = [await job(), await job({ overlap: "allow" })];
      for (const { jobId } of [skips, allows]) await setDue(jobId, { runsMade: 3 });
      const fired = await store.fire(terms, [fireOf(skips), fireOf(allows)]);
      expect(fired.map((one) => one.jobId)).toEqual([allows.jobId]);
      expect(await store.fire(terms, [fireOf(later(skips, 0, 3))])).toMatchObject([{ runsMade: 4 }]);
    });

    it("queues one run under queue_one, and adds the others to the ledger [INV-11]", async () => {
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

    it("queues all runs under queue_all", async () => {
      const { settle, job, runs } = await open();
      const one = await job({ overlap: "queue_all" });
      for (const nth of [0, 1, 2, 3]) await settle(later(one, nth, nth));
      expect((await runs(one.jobId)).map((run) => run.state)).toEqual(["queued", "blocked", "blocked", "blocked"]);
    });

    it("cancels the waiting run and stops the running one under cancel_running", async () => {
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

    it("records an occurrence that already has a run, and completes a job with its last one [INV-1]", async () => {
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
