import { CarillonError } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Coalescer, type CoalescerOptions } from "../../../src/db/coalescer.js";
import { ConnectionLost } from "../../../src/db/errors.js";
import { settled } from "./passing-time.js";

const violation = (): Error => Object.assign(new Error("bad row"), { code: "23514" });

/** A writer that holds every batch until the test releases it. */
class HeldWriter {
  readonly batches: number[][] = [];
  readonly #gates: (() => void)[] = [];
  bad: (item: number) => Error | undefined = () => undefined;

  readonly write = async (batch: readonly number[]): Promise<number[]> => {
    this.batches.push([...batch]);
    await new Promise<void>((resolve) => this.#gates.push(resolve));
    const error = batch.map(this.bad).find((found) => found !== undefined);
    if (error !== undefined) throw error;
    return batch.map((item) => item * 10);
  };

  async release(): Promise<void> {
    for (const open of this.#gates.splice(0)) open();
    await settled();
  }

  /** Releases batches until none is held. */
  async releaseAll(): Promise<void> {
    while (this.#gates.length > 0) await this.release();
  }
}

const setUp = (options: Partial<CoalescerOptions<number, number>> = {}) => {
  const writer = new HeldWriter();
  const coalescer = new Coalescer<number, number>({ write: writer.write, maxBatch: 10, maxQueued: 100, ...options });
  return { writer, coalescer };
};

describe("Coalescer", () => {
  it("writes the first item at once, and the items that are added meanwhile together", async () => {
    const { writer, coalescer } = setUp();
    const answers = [1, 2, 3].map((item) => coalescer.add(item));
    expect(writer.batches).toEqual([[1]]);
    await writer.release();
    expect(writer.batches).toEqual([[1], [2, 3]]);
    await writer.release();
    expect(await Promise.all(answers)).toEqual([10, 20, 30]);
  });

  it("refuses an item that waited longer than the queue timeout", async () => {
    let now = 0;
    const { writer, coalescer } = setUp({ queueTimeout: { ms: 100, monotonic: () => now } });
    const first = coalescer.add(1);
    const early = coalescer.add(2).catch((error: unknown) => error);
    now = 60;
    const late = coalescer.add(3);
    now = 120;
    await writer.release();
    expect(writer.batches).toEqual([[1], [3]]);
    expect(await early).toMatchObject({ code: "overloaded" });
    expect(coalescer.queued).toBe(0);
    await writer.release();
    expect([await first, await late]).toEqual([10, 30]);
  });

  it("writes items that were added together in one batch, although no write is in progress", async () => {
    const { writer, coalescer } = setUp();
    const answers = coalescer.addAll(Array.from({ length: 12 }, (_, index) => index));
    expect(writer.batches).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
    await writer.releaseAll();
    expect(writer.batches.map((batch) => batch.length)).toEqual([10, 2]);
    const values = (await answers).map((one) => (one.status === "fulfilled" ? one.value : one.reason));
    expect(values).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]);
  });

  it("returns an outcome for each of the items that were added together, also beside items of other callers", async () => {
    const { writer, coalescer } = setUp();
    writer.bad = (item) => (item === 3 ? violation() : undefined);
    const first = coalescer.add(1);
    const together = coalescer.addAll([2, 3, 4]);
    const last = coalescer.add(5);
    await writer.releaseAll();
    expect(writer.batches.slice(0, 2)).toEqual([[1], [2, 3, 4, 5]]);
    expect((await together).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await Promise.all([first, last])).toEqual([10, 50]);
  });

  it("keeps each batch within its bound", async () => {
    const { writer, coalescer } = setUp({ maxBatch: 2 });
    const answers = [1, 2, 3, 4].map((item) => coalescer.add(item));
    await writer.releaseAll();
    expect(writer.batches).toEqual([[1], [2, 3], [4]]);
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40]);
  });

  it("starts another write, up to its limit, once enough items wait", async () => {
    const { writer, coalescer } = setUp({ maxInFlight: 2, maxBatch: 100 });
    const items = Array.from({ length: 20 }, (_, index) => index);
    const answers = items.slice(0, 16).map((item) => coalescer.add(item));
    expect(writer.batches).toEqual([[0]]);
    answers.push(...items.slice(16).map((item) => coalescer.add(item)));
    expect(writer.batches).toEqual([[0], items.slice(1, 17)]);
    await writer.releaseAll();
    expect(writer.batches.flat()).toEqual(items);
    expect(await Promise.all(answers)).toEqual(items.map((item) => item * 10));
  });

  it("passes to a write whether it is the only one", async () => {
    const alone: boolean[] = [];
    const held: (() => void)[] = [];
    const coalescer = new Coalescer<number, number>({
      maxBatch: 100,
      maxQueued: 100,
      maxInFlight: 2,
      write: async (batch, isAlone) => {
        alone.push(isAlone);
        await new Promise<void>((resolve) => held.push(resolve));
        return batch;
      },
    });
    const first = coalescer.add(0);
    const others = coalescer.addAll(Array.from({ length: 16 }, (_, index) => index + 1));
    expect(alone).toEqual([true, false]);
    for (const release of held) release();
    await Promise.all([first, others]);
  });

  it("refuses only items beyond the bound of the queue as overloaded", async () => {
    const { writer, coalescer } = setUp({ maxQueued: 2 });
    const answers = [1, 2, 3].map((item) => coalescer.add(item));
    await expect(coalescer.add(4)).rejects.toMatchObject({ code: "overloaded" });
    await writer.releaseAll();
    expect(await Promise.all(answers)).toEqual([10, 20, 30]);
  });

  it("fails only the callers of bad rows, at any positions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), async (goods) => {
        const { writer, coalescer } = setUp({ maxBatch: 100 });
        writer.bad = (item) => (goods[item] ? undefined : violation());
        const answers = goods.map((_good, item) => coalescer.add(item));
        const results = Promise.allSettled(answers);
        await writer.releaseAll();
        expect((await results).map(({ status }) => status === "fulfilled")).toEqual(goods);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    new ConnectionLost("gone"),
    Object.assign(new Error("full"), { code: "53100" }),
    new CarillonError("database_unavailable", "down"),
  ])("fails the whole batch, without halving it, on %s", async (failure) => {
    const { writer, coalescer } = setUp();
    writer.bad = (item) => (item === 2 ? failure : undefined);
    const answers = Promise.allSettled([1, 2, 3, 4].map((item) => coalescer.add(item)));
    await writer.releaseAll();
    expect((await answers).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
    expect(writer.batches).toEqual([[1], [2, 3, 4]]);
  });

  it("writes the same batch again after a deadlock", async () => {
    const { writer, coalescer } = setUp();
    let deadlocks = 1;
    writer.bad = (item) =>
      item === 2 && deadlocks-- > 0 ? Object.assign(new Error("x"), { code: "40P01" }) : undefined;
    const answers = [1, 2, 3].map((item) => coalescer.add(item));
    await writer.releaseAll();
    expect(await Promise.all(answers)).toEqual([10, 20, 30]);
    expect(writer.batches).toEqual([[1], [2, 3], [2, 3]]);
  });

  it("fails when a writer returns too few results", async () => {
    const coalescer = new Coalescer<number, number>({ write: async () => [], maxBatch: 1, maxQueued: 1 });
    await expect(coalescer.add(1)).rejects.toThrow(/0 results/);
  });

  it("drains when no item waits and no write is in progress", async () => {
    const { writer, coalescer } = setUp();
    await coalescer.drain();
    const answers = [1, 2].map((item) => coalescer.add(item));
    let drained = false;
    const draining = coalescer.drain().then(() => (drained = true));
    await writer.release();
    expect(drained).toBe(false);
    await writer.release();
    await draining;
    expect(await Promise.all(answers)).toEqual([10, 20]);
  });
});
