import type { DueJob, FireStore, Terms } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { type FireStoreUnderTest, fireOf, holdOf, type JobWish, minute, passOf, termsOf } from "./under-test.js";

interface Write {
  readonly name: string;
  readonly wish: JobWish;
  /** Returns the jobs that were changed. */
  readonly write: (store: FireStore, terms: Terms, jobs: readonly DueJob[]) => Promise<string[]>;
}

const writes: readonly Write[] = [
  {
    name: "fire",
    wish: {},
    write: async (store, terms, jobs) =>
      (
        await store.fire(
          terms,
          jobs.map((job) => fireOf(job)),
        )
      ).map((one) => one.jobId),
  },
  {
    name: "settle",
    wish: { overlap: "queue_one" },
    write: async (store, terms, jobs) =>
      (
        await store.settle(
          terms,
          jobs.map((job) => fireOf(job)),
        )
      ).fired.map((one) => one.jobId),
  },
  {
    name: "pass",
    wish: {},
    write: (store, terms, jobs) =>
      store.pass(
        terms,
        jobs.map((job) => passOf(job)),
      ),
  },
  {
    name: "hold",
    wish: {},
    write: (store, terms, jobs) =>
      store.hold(
        terms,
        jobs.map((job) => holdOf(job, job.nominal + 600 * minute)),
      ),
  },
];

/** The fence that every write checks on the row first. */
export function guardLaws(under: () => FireStoreUnderTest): void {
  describe.each(writes)("the guard of $name", ({ wish, write }) => {
    const open = async () => {
      const one = under();
      const terms = await termsOf(one.store, await one.takeAll());
      const written = (jobs: readonly DueJob[], given: Terms = terms): Promise<string[]> =>
        write(one.store, given, jobs);
      /** The job is unchanged. */
      const untouched = async (job: DueJob, changed: object = {}): Promise<void> => {
        expect(await one.runs(job.jobId)).toEqual([]);
        expect(await one.ledger(job.jobId)).toEqual([]);
        expect(await one.due(job.jobId)).toMatchObject({ nominal: job.nominal, firedThrough: null, ...changed });
      };
      return { ...one, terms, written, untouched };
    };

    it("refuses a write under an old epoch, for another owner, or for a shard outside the fence [INV-2]", async () => {
      const { terms, written, untouched, job, takeAll } = await open();
      const one = await job(wish);
      const present = await takeAll();
      expect(await written([one])).toEqual([]);
      expect(await written([one], { ...terms, fence: { ...present, node: terms.fence.node } })).toEqual([]);
      const others = present.shards.filter((shard) => shard.id !== one.shard);
      expect(await written([one], { ...terms, fence: { ...present, shards: others } })).toEqual([]);
      await untouched(one);
      expect(await written([one], { ...terms, fence: present })).toEqual([one.jobId]);
    });

    it("refuses a write before its time by the clock of the store, regardless of the caller's clock [INV-5]", async () => {
      const { written, untouched, job, now } = await open();
      const one = await job({ ...wish, dueAt: now() + 60 * minute });
      expect(await written([one])).toEqual([]);
      expect(await written([{ ...one, fireAt: now() - minute }])).toEqual([]);
      await untouched(one);
    });

    it("refuses a write for a changed definition, although the instant is the same [INV-1]", async () => {
      const { written, untouched, job, setDue } = await open();
      const one = await job(wish);
      await setDue(one.jobId, { version: 2 });
      expect(await written([one])).toEqual([]);
      await untouched(one, { version: 2 });
    });

    it("refuses a write for an instant that is not the next, or not after the settled ones [INV-9]", async () => {
      const { written, untouched, job, setDue } = await open();
      const [moved, settled] = [await job(wish), await job(wish)];
      expect(await written([{ ...moved, nominal: moved.nominal - minute }])).toEqual([]);
      await setDue(settled.jobId, { firedThrough: settled.nominal });
      expect(await written([settled])).toEqual([]);
      await untouched(moved);
      await untouched(settled, { firedThrough: settled.nominal });
    });

    it("refuses a write for a job that is paused, completed or cancelled", async () => {
      const { written, job, setDue, runs, ledger } = await open();
      for (const state of ["paused", "completed", "cancelled"] as const) {
        const one = await job(wish);
        await setDue(one.jobId, { state, nominal: null, fireAt: null });
        expect(await written([one])).toEqual([]);
        expect(await runs(one.jobId)).toEqual([]);
        expect(await ledger(one.jobId)).toEqual([]);
      }
    });

    it("refuses a write under changed maintenance windows", async () => {
      const { written, terms, untouched, job, setWindows } = await open();
      const one = await job(wish);
      const windows = await setWindows([]);
      expect(await written([one])).toEqual([]);
      await untouched(one);
      expect(await written([one], { ...terms, windows })).toEqual([one.jobId]);
    });

    it("skips a job whose row is locked and writes the others", async () => {
      const { written, untouched, job, holding } = await open();
      const [held, free] = [await job(wish), await job(wish)];
      expect(await holding([held.jobId], () => written([held, free]))).toEqual([free.jobId]);
      await untouched(held);
      expect(await written([held])).toEqual([held.jobId]);
    });
  });
}
