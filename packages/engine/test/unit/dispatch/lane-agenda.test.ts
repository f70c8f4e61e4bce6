import { describe, expect, it } from "vitest";
import type { LaneAgenda, Wanted } from "../../../src/dispatch/claims/lane-scan-queue.js";
import { LaneBounds } from "../../../src/dispatch/claims/lane-bounds.js";
import type { Look } from "../../../src/dispatch/claims/lane-cursor.js";
import { NamespaceTurns } from "../../../src/dispatch/claims/namespace-turns.js";
import type { ClaimedRun, Lane, LaneKind } from "@carillon/store";

const laneCount = 10_000;
const wanted = { places: 10, free: 10, apart: 1 };

/** Lanes that count how often somebody asks what they are. */
class Visits {
  readonly lanes: Lane[];
  readonly seen = new Set<number>();
  #count = 0;

  constructor(count: number, kind: LaneKind = "plain") {
    const visit = (id: number): void => {
      this.seen.add(id);
      this.#count++;
    };
    this.lanes = Array.from({ length: count }, (_, index) => {
      const id = index + 1;
      return {
        id,
        queue: "q",
        task: `t${id}`,
        requires: "",
        get kind() {
          visit(id);
          return kind;
        },
      };
    });
  }

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.seen.clear();
    this.#count = 0;
  }
}

const turns = new NamespaceTurns(() => 1);
const looksOf = (agenda: LaneAgenda, by: Wanted, at: number): readonly Look[] => agenda.plan(by, at, turns).looks;

interface Served {
  readonly bounds: LaneBounds;
  readonly agenda: LaneAgenda;
  readonly visits: Visits;
}

/** Every lane was looked at once and found empty. */
function quiet(kind: LaneKind = "plain"): Served {
  const visits = new Visits(laneCount, kind);
  const bounds = new LaneBounds(1_000);
  const agenda = bounds.agenda();
  bounds.serve(agenda, visits.lanes, 1);
  for (let looks = looksOf(agenda, wanted, 0); looks.length > 0; looks = looksOf(agenda, wanted, 0))
    took(bounds, looks);
  visits.clear();
  return { bounds, agenda, visits };
}

function took(bounds: LaneBounds, looks: readonly Look[], claimed: readonly ClaimedRun[] = [], at = 0): void {
  bounds.took(looks, { claimed, places: 10, free: 10, durationMs: 1 }, at);
}

const lanesOf = (looks: readonly Look[]): number[] => looks.map((look) => look.read.lane);

describe("an agenda of ten thousand lanes", () => {
  it("visits none when nothing changed", () => {
    const { agenda, visits } = quiet();
    expect(agenda.isReady(500)).toBe(false);
    expect(looksOf(agenda, wanted, 500)).toEqual([]);
    expect(agenda.nextFullLook(wanted)).toBe(1_000);
    expect(visits.count).toBe(0);
  });

  it("visits those that were hinted, and no others", () => {
    const { bounds, agenda, visits } = quiet();
    for (const lane of [7, 7_000, 7]) bounds.hint(lane, 5);
    expect(agenda.isReady(500)).toBe(true);
    const looks = looksOf(agenda, wanted, 500);
    took(bounds, looks, [], 500);
    expect(new Set(lanesOf(looks))).toEqual(new Set([7, 7_000]));
    expect(visits.seen).toEqual(new Set([7, 7_000]));
    expect(looksOf(agenda, wanted, 501)).toEqual([]);
  });

  it("reads at most five hundred with one statement, and each of them within the period of full looks", () => {
    const { bounds, agenda, visits } = quiet();
    let most = 0;
    for (let looks = looksOf(agenda, wanted, 1_000); looks.length > 0; looks = looksOf(agenda, wanted, 1_000)) {
      most = Math.max(most, looks.length);
      took(bounds, looks, [], 1_000);
    }
    expect(most).toBe(500);
    expect(visits.seen.size).toBe(laneCount);
    expect(agenda.isReady(1_999)).toBe(false);
    expect(agenda.nextFullLook(wanted)).toBe(2_000);
  });

  it("gives every open lane its turn when there are more than one statement reads", () => {
    const { bounds, agenda, visits } = quiet();
    bounds.hintAll();
    visits.clear();
    for (let round = 0; round < laneCount / 500; round++) {
      const looks = looksOf(agenda, wanted, 500);
      // Ten found of each first lane in ten places: all that were looked at stay open.
      const [first] = looks;
      const found = Array.from({ length: 10 }, () => ({ lane: first?.read.lane, rank: 1 }) as ClaimedRun);
      took(bounds, looks, found, 500);
    }
    expect(visits.seen.size).toBe(laneCount);
  });

  it("keeps half of a statement for open lanes when full looks are due", () => {
    const { bounds, agenda } = quiet();
    for (let lane = 1; lane <= 300; lane++) bounds.hint(lane, 5);
    const looks = looksOf(agenda, wanted, 1_000);
    expect(looks.filter((look) => look.read.lane <= 300).length).toBeGreaterThanOrEqual(250);
  });

  it.each(["solo", "lost"] as const)(
    "visits no %s lane while no slot is free, and waits for no look of theirs",
    (kind) => {
      const { bounds, agenda, visits } = quiet(kind);
      bounds.hintAll();
      visits.clear();
      const nobody = { places: 10, free: 0, apart: 0 };
      expect(looksOf(agenda, nobody, 5_000)).toEqual([]);
      expect(agenda.nextFullLook(nobody)).toBe(Number.POSITIVE_INFINITY);
      expect(visits.count).toBe(0);
    },
  );

  it("opens for all that share a lane, and stays with the others when one goes", () => {
    const { bounds, agenda, visits } = quiet();
    const other = bounds.agenda();
    bounds.serve(other, visits.lanes.slice(0, 10), 1);
    bounds.hint(3, 5);
    expect([agenda, other].map((one) => one.isReady(500))).toEqual([true, true]);
    bounds.release(agenda);
    expect(bounds.size).toBe(10);
    expect(lanesOf(looksOf(other, wanted, 500))).toEqual([3]);
    bounds.release(other);
    expect(bounds.size).toBe(0);
  });
});
