import { type DedupeAction, dedupeActions } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DedupeOutcome, storeInRounds } from "../../../src/enqueue/dedupe/dedupe-rounds.js";
import type { DedupeAnswer, DedupedRun } from "@carillon/store";
import { newId, newRun } from "../../harness/store-harness.js";

interface Request {
  readonly key: string;
  readonly on: DedupeAction;
  /** How often another caller takes the key before this request gets it. */
  readonly rivals: number;
}

const request: fc.Arbitrary<Request> = fc.record({
  key: fc.constantFrom("a", "b", "c"),
  on: fc.constantFrom(...dedupeActions),
  rivals: fc.integer({ min: 0, max: 2 }),
});

/** The table of keys, one statement at a time. */
class Keys {
  readonly held = new Map<string, string>();
  readonly batches: number[] = [];
  readonly #rivals: Map<string, number>;

  constructor(rivals: Map<string, number>) {
    this.#rivals = rivals;
  }

  readonly write = async (runs: readonly DedupedRun[]): Promise<DedupeAnswer[]> => {
    this.batches.push(runs.length);
    if (new Set(runs.map(({ dedupe }) => dedupe.key)).size < runs.length) throw new Error("a key stands twice");
    return runs.map(({ run: { id }, dedupe: { key, on } }) => {
      const rivals = this.#rivals.get(id) ?? 0;
      if (rivals > 0) {
        this.#rivals.set(id, rivals - 1);
        return { id, state: "beaten" };
      }
      const heldId = this.held.get(key);
      if (heldId !== undefined && on !== "replace") return { id, state: "held", heldId };
      this.held.set(key, id);
      return { id, state: "queued", createdAt: 0 };
    });
  };
}

function runsOf(requests: readonly Request[]): DedupedRun[] {
  return requests.map(({ key, on }) => ({ run: newRun(1, { id: newId() }), dedupe: { key, on, windowMs: null } }));
}

/** What would come of it if each request waited for the one before. */
function oneByOne(runs: readonly DedupedRun[]): DedupeOutcome[] {
  const held = new Map<string, string>();
  return runs.map(({ run: { id }, dedupe: { key, on } }) => {
    const runId = held.get(key);
    if (runId !== undefined && on !== "replace") return { kind: "held", runId };
    held.set(key, id);
    return { kind: "stored", stored: { id, state: "queued", createdAt: 0 } };
  });
}

describe("storeInRounds", () => {
  it("a batch with repeated keys has the outcomes of sequential calls, also with competing callers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 12 }), async (requests) => {
        const runs = runsOf(requests);
        const keys = new Keys(new Map(runs.map(({ run }, at) => [run.id, requests[at]?.rivals ?? 0])));
        expect(await storeInRounds(runs, keys.write)).toEqual(oneByOne(runs));
      }),
    );
  });

  it("a batch with repeated keys and no replacement needs one statement", async () => {
    const runs = runsOf(Array.from({ length: 50 }, (_, at) => ({ key: `${at % 5}`, on: "ignore", rivals: 0 })));
    const keys = new Keys(new Map());
    await storeInRounds(runs, keys.write);
    expect(keys.batches).toEqual([5]);
  });

  it("a batch that loses its key in every round fails as overloaded", async () => {
    const runs = runsOf([{ key: "a", on: "ignore", rivals: 0 }]);
    const never = async (): Promise<DedupeAnswer[]> => runs.map(({ run: { id } }) => ({ id, state: "beaten" }));
    await expect(storeInRounds(runs, never)).rejects.toMatchObject({ code: "overloaded" });
  });

  it("a run whose key already names it counts as stored, because the answer of an earlier try was lost", async () => {
    const [run] = runsOf([{ key: "a", on: "replace", rivals: 0 }]);
    if (run === undefined) throw new Error("there is no run");
    const { id } = run.run;
    expect(await storeInRounds([run], async () => [{ id, state: "held", heldId: id }])).toEqual([
      { kind: "stored", stored: null },
    ]);
  });
});
