import { describe, expect, it } from "vitest";
import type { LaneAgenda } from "../../../src/dispatch/claims/lane-scan-queue.js";
import { NamespaceTurns } from "../../../src/dispatch/claims/namespace-turns.js";
import { LaneBounds } from "../../../src/dispatch/claims/lane-bounds.js";
import type { Look } from "../../../src/dispatch/claims/lane-cursor.js";
import type { ClaimedRun, Lane } from "@carillon/store";

const plain = { id: 1, queue: "q", task: "a", kind: "plain", requires: "" } as const;
const other = { id: 2, queue: "q", task: "b", kind: "plain", requires: "" } as const;
const solo = { id: 3, queue: "q", task: "a", kind: "solo", requires: "" } as const;
const everything = Number.MIN_SAFE_INTEGER;

const claimed = (lane: number, ...ranks: number[]): ClaimedRun[] =>
  ranks.map((rank) => ({ lane, rank, namespaceId: 1 }) as ClaimedRun);
const read = (looks: readonly Look[]) => looks.map((one) => one.read);

function answer(bounds: LaneBounds, looks: readonly Look[], runs: readonly ClaimedRun[], places = 10, at = 0): void {
  bounds.took(looks, { claimed: runs, places, free: places, durationMs: 1 }, at);
}

/** Looked at from its beginning, with ten found in ten places: the last at rank 100. */
function drained(): LaneBounds {
  const bounds = new LaneBounds(1_000);
  const looks = look(bounds, 0);
  answer(bounds, looks, claimed(1, ...Array.from({ length: 10 }, (_, index) => 91 + index)));
  return bounds;
}

const turns = new NamespaceTurns(() => 1);
const agendas = new WeakMap<LaneBounds, LaneAgenda>();

function look(
  bounds: LaneBounds,
  at = 1,
  lanes: readonly Lane[] = [plain],
  wanted: { places: number; free: number; apart?: number } = { places: 10, free: 10 },
): Look[] {
  const agenda = agendas.get(bounds) ?? bounds.agenda();
  agendas.set(bounds, agenda);
  bounds.serve(agenda, lanes, 1);
  return [...agenda.plan({ apart: 1, ...wanted }, at, turns).looks];
}

describe("the bounds of lanes", () => {
  it("begin with a look at everything", () => {
    expect(read(look(new LaneBounds(1_000)))).toEqual([
      { lane: 1, namespaceId: 1, low: everything, most: 10, isSolo: false },
    ]);
  });

  it("go on from the last rank that was claimed, which may have equals", () => {
    expect(read(look(drained()))).toMatchObject([{ low: 100 }]);
  });

  it("leave a lane alone that was emptied, until a hint or the full look", () => {
    const bounds = new LaneBounds(1_000);
    answer(bounds, look(bounds, 0), claimed(1, 5, 6));
    expect(look(bounds, 999)).toEqual([]);
    expect(read(look(bounds, 1_000))).toMatchObject([{ low: everything }]);
  });

  it("open at a hint, at its rank, wherever the bound was", () => {
    const bounds = drained();
    bounds.hint(1, 40);
    expect(read(look(bounds))).toMatchObject([{ low: 40 }]);
  });

  it("keep in mind a hint that comes while a look is under way: the run may have come after its snapshot", () => {
    const bounds = drained();
    const looks = look(bounds);
    bounds.hint(1, 40);
    answer(bounds, looks, []);
    expect(read(look(bounds, 2))).toMatchObject([{ low: 40 }]);
  });

  it("let one look at a time go to a lane that is not known to have more than it takes", () => {
    const bounds = new LaneBounds(1_000);
    answer(bounds, look(bounds, 0), []);
    bounds.hint(1, 40);
    const first = look(bounds);
    expect(first).toHaveLength(1);
    expect(look(bounds)).toEqual([]);
    bounds.hint(1, 50);
    const second = look(bounds);
    expect(second).toHaveLength(1);
    answer(bounds, first, claimed(1, 40));
    expect(look(bounds)).toEqual([]);
    answer(bounds, second, claimed(1, 50));
    expect(look(bounds)).toEqual([]);
  });

  it("let two looks at a time go to a lane that had more than the last one took", () => {
    const bounds = drained();
    expect([look(bounds), look(bounds)].map(read)).toMatchObject([[{ low: 100 }], [{ low: 100 }]]);
  });

  it("are not moved back by the slower of two looks", () => {
    const bounds = drained();
    const [slow, fast] = [look(bounds), look(bounds)];
    answer(bounds, fast, claimed(1, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300));
    answer(bounds, slow, claimed(1, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200));
    expect(read(look(bounds))).toMatchObject([{ low: 300 }]);
  });

  it("are forgotten when a look fails: what it locked may be anywhere", () => {
    const bounds = drained();
    bounds.failed(look(bounds));
    expect(read(look(bounds))).toMatchObject([{ low: everything }]);
  });

  const tookLong = (bounds: LaneBounds, looks: readonly Look[], at: number): void => {
    const runs = claimed(1, ...Array.from({ length: 10 }, () => 100));
    bounds.took(looks, { claimed: runs, places: 10, free: 10, durationMs: 100 }, at);
  };

  it("take a full look every period under steady work, one at a time, also after one that something held up", () => {
    const bounds = drained();
    const full = look(bounds, 1_000);
    expect(read(full)).toMatchObject([{ low: everything }]);
    expect(read(look(bounds, 1_001))).toMatchObject([{ low: 100 }]);
    tookLong(bounds, full, 1_100);
    expect(read(look(bounds, 2_099))).toMatchObject([{ low: 100 }]);
    expect(read(look(bounds, 2_100))).toMatchObject([{ low: everything }]);
  });

  it("take full looks less often when they are dear again and again", () => {
    const bounds = drained();
    tookLong(bounds, look(bounds, 1_000), 1_100);
    tookLong(bounds, look(bounds, 2_100), 2_200);
    expect(read(look(bounds, 4_199))).toMatchObject([{ low: 100 }]);
    expect(read(look(bounds, 4_200))).toMatchObject([{ low: everything }]);
  });

  it("look at few runs of each of many lanes, at more of the one that has them", () => {
    const bounds = new LaneBounds(1_000);
    const wanted = { places: 500, free: 500 };
    const first = look(bounds, 0, [plain, other], wanted);
    expect(read(first).map((one) => one.most)).toEqual([8, 8]);
    answer(bounds, first, claimed(1, ...Array.from({ length: 8 }, (_, index) => index)), 500);
    expect(read(look(bounds, 1, [plain, other], wanted)).map(({ lane, most }) => [lane, most])).toEqual([[1, 500]]);
  });

  it("never look at solo lanes without a free slot, nor at more than there are", () => {
    const bounds = new LaneBounds(1_000);
    expect(look(bounds, 0, [solo], { places: 10, free: 0 })).toEqual([]);
    expect(read(look(bounds, 0, [solo], { places: 10, free: 2 }))).toMatchObject([{ most: 2 }]);
  });

  it("never look at more runs that lost a worker before than there are workers without one", () => {
    const bounds = new LaneBounds(1_000);
    const lost = { id: 4, queue: "q", task: "a", kind: "lost", requires: "" } as const;
    expect(look(bounds, 0, [lost], { places: 10, free: 10, apart: 0 })).toEqual([]);
    expect(read(look(bounds, 0, [lost], { places: 10, free: 10, apart: 3 }))).toMatchObject([
      { most: 3, isSolo: true },
    ]);
  });

  it("know nothing of solo runs that were passed over because plain ones took the free slots", () => {
    const bounds = new LaneBounds(1_000);
    const looks = look(bounds, 0, [plain, solo], { places: 4, free: 2 });
    bounds.took(looks, { claimed: claimed(1, 1, 2, 3, 4), places: 4, free: 2, durationMs: 1 }, 0);
    const again = read(look(bounds, 1, [plain, solo], { places: 4, free: 2 }));
    expect(again.find((one) => one.isSolo)?.low).toBe(everything);
  });
});

describe("lanes of a paused queue", () => {
  it("are not looked at, whatever is hinted, and from their beginning when it is resumed", () => {
    let isPaused = true;
    const bounds = new LaneBounds(1_000, () => (isPaused ? "shut" : null));
    expect(look(bounds, 0)).toEqual([]);
    bounds.hint(1, 40);
    expect(look(bounds, 1_000)).toEqual([]);
    isPaused = false;
    bounds.holdAgain();
    expect(read(look(bounds, 1_001))).toMatchObject([{ low: everything }]);
  });

  it("close when it is paused, also while a look is under way", () => {
    let isPaused = false;
    const bounds = new LaneBounds(1_000, () => (isPaused ? "shut" : null));
    const looks = look(bounds, 0);
    isPaused = true;
    bounds.holdAgain();
    answer(bounds, looks, claimed(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    expect(look(bounds, 1)).toEqual([]);
  });
});
