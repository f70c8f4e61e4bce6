import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, fireOf, holdOf, later, minute, passOf, termsOf } from "./under-test.js";

/** What pass, hold, release and park do. */
export function moveLaws(under: () => FireStoreUnderTest): void {
  const open = async () => {
    const one = under();
    return { ...one, terms: await termsOf(one.store, await one.takeAll()) };
  };

  describe("passes over occurrences", () => {
    it("with a range in the ledger that grows while the reason repeats [INV-11]", async () => {
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

    it("and forgets a detail that does not hold for the whole range", async () => {
      const { store, terms, job, ledger } = await open();
      const one = await job();
      for (const [nth, detail] of ["a", "a", "b"].entries()) {
        await store.pass(terms, [passOf(later(one, nth, 0), 1, { reason: "window", detail })]);
        expect((await ledger(one.jobId))[0]?.detail).toBe(nth < 2 ? "a" : null);
      }
    });

    it("to the end of the rule, and completes the job", async () => {
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

  describe("goes by its own clock, and does not", () => {
    it("pass or hold for a caller whose clock is ahead [INV-11]", async () => {
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
    it("until its window is over, under its own name", async () => {
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

    it("and makes it due when the windows have changed, from then on and not before", async () => {
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

  describe("parks a job", () => {
    const pause = { reason: "parked: broken", actor: "system", at: 0, until: null, missed: "none" } as const;

    it("that cannot be fired: paused without an end, under a new version", async () => {
      const { store, terms, job, due } = await open();
      const one = await job();
      expect(await store.park(terms.fence, [{ job: one, pause }])).toEqual([one.jobId]);
      expect(await due(one.jobId)).toMatchObject({ state: "paused", version: 2, nominal: null, fireAt: null });
      expect(await store.fire(terms, [fireOf(one)])).toEqual([]);
      expect(await store.park(terms.fence, [{ job: one, pause }])).toEqual([]);
    });

    it("not if its definition changed meanwhile, if somebody holds it or under an old epoch [INV-2]", async () => {
      const { store, terms, job, due, setDue, holding, takeAll } = await open();
      const [changed, held] = [await job(), await job()];
      await setDue(changed.jobId, { version: 2 });
      expect(await store.park(terms.fence, [{ job: changed, pause }])).toEqual([]);
      expect(await holding([held.jobId], () => store.park(terms.fence, [{ job: held, pause }]))).toEqual([]);
      await takeAll();
      expect(await store.park(terms.fence, [{ job: held, pause }])).toEqual([]);
      expect(await due(held.jobId)).toMatchObject({ state: "active", version: 1 });
    });
  });
}
