import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, fireOf, later, minute, termsOf } from "./under-test.js";

/** What a fire does for a job whose runs overlap, or are left out while one is live. */
export function fireLaws(under: () => FireStoreUnderTest): void {
  const open = async () => {
    const one = under();
    return { ...one, terms: await termsOf(one.store, await one.takeAll()) };
  };

  describe("fires", () => {
    it("an occurrence once, however often it is asked to [INV-1]", async () => {
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

    it("with the task and the payload of the job, and its version", async () => {
      const { store, terms, job, runs } = await open();
      const one = await job({ overlap: "allow" });
      const [fired] = await store.fire(terms, [fireOf(one)]);
      const [run] = await runs(one.jobId);
      expect(run).toMatchObject({ task: "echo", payload: { n: 1 }, version: 1, untracked: true, serial: false });
      expect(fired?.run).toMatchObject({ id: run?.id, rank: one.fireAt });
    });

    it("nothing a second time although the row was set back: the ledger says duplicate [INV-1]", async () => {
      const { store, terms, job, runs, ledger, setDue } = await open();
      const one = await job({ overlap: "allow" });
      await store.fire(terms, [fireOf(one)]);
      await setDue(one.jobId, { nominal: one.nominal, fireAt: one.nominal, firedThrough: null });
      expect(await store.fire(terms, [fireOf(one)])).toMatchObject([{ outcome: "duplicate", run: null }]);
      expect(await runs(one.jobId)).toHaveLength(1);
      expect(await ledger(one.jobId)).toMatchObject([{ reason: "duplicate", from: one.nominal, count: 1 }]);
    });

    it("the others of a batch in which the row of one was set back [INV-1]", async () => {
      const { store, terms, job, runs, setDue } = await open();
      const jobs = [await job(), await job(), await job({ overlap: "allow" })];
      const [back] = jobs;
      if (back === undefined) throw new Error("there is no first job");
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

    it("each job of a batch as it was asked for: its own run, rank and next time", async () => {
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

    it("the last run of a job with a bound, and completes it", async () => {
      const { store, terms, job, due } = await open();
      const one = await job({ overlap: "allow", maxRuns: 2 });
      expect(await store.fire(terms, [fireOf(one)])).toMatchObject([{ isLast: false }]);
      expect(await store.fire(terms, [fireOf(later(one, 1, 1))])).toMatchObject([{ outcome: "fired", isLast: true }]);
      expect(await due(one.jobId)).toMatchObject({ state: "completed", nominal: null, fireAt: null, firedCount: 2 });
    });

    it("the last occurrence of a rule, and completes the job", async () => {
      const { store, terms, job, due } = await open();
      const one = await job();
      expect(await store.fire(terms, [fireOf(one, { next: null })])).toMatchObject([
        { outcome: "fired", isLast: false },
      ]);
      expect(await due(one.jobId)).toMatchObject({ state: "completed", nominal: null, fireAt: null });
    });

    it("and keeps up to when it has to catch up, until that is said anew", async () => {
      const { store, terms, job, due, setDue } = await open();
      const one = await job({ overlap: "allow" });
      await setDue(one.jobId, { catchUpTo: one.nominal });
      await store.fire(terms, [fireOf(one)]);
      expect(await due(one.jobId)).toMatchObject({ catchUpTo: one.nominal });
      await store.fire(terms, [fireOf(later(one, 1, 1), { catchUpTo: one.nominal + minute })]);
      expect(await due(one.jobId)).toMatchObject({ catchUpTo: one.nominal + minute });
    });

    it("with what else is to be noted, once: a refused fire notes nothing [INV-11]", async () => {
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

    it("nothing where runs wait for one another or replace one another", async () => {
      const { store, terms, job, runs } = await open();
      for (const overlap of ["queue_one", "queue_all", "cancel_running"] as const) {
        const one = await job({ overlap });
        expect(await store.fire(terms, [fireOf(one)])).toEqual([]);
        expect(await runs(one.jobId)).toEqual([]);
      }
    });
  });
}
