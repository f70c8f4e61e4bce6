import { defaultFiringPolicy } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DueWindow } from "../../../src/scheduler/due-window.js";
import type { DueDefinition, DueJob } from "@carillon/store";

const start = Date.UTC(2026, 5, 1, 12);

const definition: DueDefinition = {
  namespaceId: 1,
  schedule: { kind: "manual" },
  firing: defaultFiringPolicy,
  priority: 4,
  task: "echo",
  queue: "default",
  labels: {},
};

function job(id: number, over: Partial<DueJob> = {}): DueJob {
  const fireAt = over.fireAt ?? start;
  return {
    jobId: `job-${id}`,
    shard: id % 1_024,
    class: 1,
    state: "active",
    version: 1,
    nominal: fireAt,
    fireAt,
    settledTo: start,
    catchUpTo: null,
    runsMade: 0,
    definition,
    ...over,
  };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const idsOf = (jobs: readonly DueJob[]): string[] => jobs.map((one) => one.jobId);

describe("DueWindow", () => {
  it("the window gives each due entry once, and none early [INV-5]", () => {
    const window = new DueWindow({ now: start });
    window.putJob(job(1, { fireAt: start + 10 }));
    window.putJob(job(2, { fireAt: start + 11 }));
    window.putRun({ id: "run-1", shard: 1, runAt: start + 10 });
    expect(window.takeDue(start + 9, 100)).toEqual({ jobs: [], runs: [] });
    expect(window.nextDue).toBe(start + 10);
    const due = window.takeDue(start + 10, 100);
    expect(idsOf(due.jobs)).toEqual(["job-1"]);
    expect(due.runs).toEqual([{ id: "run-1", shard: 1, runAt: start + 10 }]);
    expect(window.takeDue(start + 10, 100)).toEqual({ jobs: [], runs: [] });
    expect(window.size).toBe(1);
  });

  it("the window gives high priority first if more entries are due than fit a batch", () => {
    const window = new DueWindow({ now: start });
    for (const id of range(5_000)) window.putJob(job(id, { class: id >= 4_900 ? 0 : 1 }));
    const { jobs } = window.takeDue(start, 200);
    expect(jobs.slice(0, 100).every((one) => one.class === 0)).toBe(true);
    expect(jobs).toHaveLength(200);
    expect(window.nextDue).toBeLessThanOrEqual(start);
  });

  it("a high-priority job that becomes due during a herd is in the next batch", () => {
    const window = new DueWindow({ now: start });
    for (const id of range(5_000)) window.putJob(job(id));
    window.takeDue(start, 200);
    window.putJob(job(9_999, { class: 0, fireAt: start + 1_000 }));
    expect(idsOf(window.takeDue(start + 1_000, 200).jobs)[0]).toBe("job-9999");
  });

  it("every batch has a share of each class, so that none starves", () => {
    const window = new DueWindow({ now: start });
    for (const id of range(3_000)) window.putJob(job(id, { class: id % 3 }));
    const { jobs } = window.takeDue(start, 160);
    const countOf = (wanted: number): number => jobs.filter((one) => one.class === wanted).length;
    expect([countOf(0), countOf(1), countOf(2)]).toEqual([130, 20, 10]);
  });

  it("a batch is filled from the classes that have due entries", () => {
    const window = new DueWindow({ now: start });
    for (const id of range(100)) window.putJob(job(id, { class: 2 }));
    expect(window.takeDue(start, 60).jobs).toHaveLength(60);
    expect(window.takeDue(start, 60).jobs).toHaveLength(40);
  });

  it("due jobs are ordered by second, and within a second by creation, because such jobs share pages", () => {
    const window = new DueWindow({ now: start });
    const idOf = (madeAt: number): string => `${madeAt.toString(16).padStart(8, "0")}-0000-7000-8000-000000000000`;
    const made = range(64).map((index) => (index * 37) % 64);
    for (const at of made) window.putJob(job(at, { jobId: idOf(at), fireAt: start + (at % 2) * 1_000 }));
    const taken = window.takeDue(start + 5_000, 64).jobs.map((one) => one.jobId);
    const inOrder = range(64).toSorted((a, b) => (a % 2) - (b % 2) || a - b);
    expect(taken).toEqual(inOrder.map(idOf));
  });

  it("rows of a read are ignored for entries that were written since the read began", async () => {
    const window = new DueWindow({ now: start });
    for (const id of range(3)) window.putJob(job(id));
    const early = window.takeDue(start, 1);
    const stale: boolean[] = [];
    await window.whileReading(
      async () => {
        window.release(early);
        window.release(window.takeDue(start, 1));
        return range(3).map((id) => job(id));
      },
      (read, isStale) => stale.push(...read.map((one) => isStale(one.jobId))),
    );
    expect(stale).toEqual([true, true, false]);
    await window.whileReading(
      async () => job(0),
      (read, isStale) => stale.push(isStale(read.jobId)),
    );
    expect(stale[3]).toBe(false);
  });

  it("two lanes have no shard in common", () => {
    const window = new DueWindow({ now: start, lanes: 2 });
    for (const id of range(2_000)) window.putJob(job(id));
    const [even, odd] = [0, 1].map((lane) => window.takeDue(start, 10_000, lane).jobs);
    expect(even?.length).toBe(1_000);
    expect(odd?.length).toBe(1_000);
    expect(even?.every((one) => one.shard % 2 === 0)).toBe(true);
    expect(odd?.every((one) => one.shard % 2 === 1)).toBe(true);
  });

  it("an entry whose version or time changed is replaced, also if it is due", () => {
    const window = new DueWindow({ now: start });
    window.putJob(job(1, { fireAt: start + 5 }));
    window.putJob(job(1, { fireAt: start + 5_000 }));
    expect(window.takeDue(start + 5, 10).jobs).toEqual([]);
    window.putJob(job(2));
    window.putJob(job(3));
    expect(window.takeDue(start + 10, 1).jobs).toHaveLength(1);
    window.putJob(job(3, { version: 2 }));
    expect(window.takeDue(start + 5_000, 10).jobs.map((one) => [one.jobId, one.version])).toEqual([
      ["job-3", 2],
      ["job-1", 1],
    ]);
    expect(window.size).toBe(0);
  });

  it("the window drops the entries of lost shards, whether they wait or are due", () => {
    const window = new DueWindow({ now: start });
    for (const id of range(10)) window.putJob(job(id, { shard: id % 2, fireAt: start + (id < 5 ? 0 : 1_000) }));
    window.takeDue(start, 1);
    window.dropShards(new Set([0]));
    expect(window.heldOf(0, 1)).toBe(0);
    expect(window.takeDue(start + 2_000, 100).jobs.every((one) => one.shard === 1)).toBe(true);
    expect(window.nextDue).toBe(-1);
  });

  it("a full window refuses new entries and still replaces known ones", () => {
    const window = new DueWindow({ now: start, capacity: 3 });
    expect(range(4).map((id) => window.putJob(job(id)))).toEqual([true, true, true, false]);
    expect(window.room).toBe(0);
    expect(window.putJob(job(0, { version: 2 }))).toBe(true);
    expect(window.putRun({ id: "run", shard: 0, runAt: start })).toBe(false);
    window.takeDue(start, 1);
    expect(window.putJob(job(3))).toBe(true);
  });

  it("the window holds every entry that was put and neither taken nor dropped, in any order of calls", () => {
    const call = fc.oneof(
      fc.record({ kind: fc.constant("put" as const), id: fc.nat(20), version: fc.nat(3), due: fc.nat(20) }),
      fc.record({ kind: fc.constant("take" as const), now: fc.nat(25), max: fc.nat(5), lane: fc.nat(1) }),
      fc.record({ kind: fc.constant("drop" as const), shard: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const window = new DueWindow({ now: start, lanes: 2 });
        const model = new Map<string, DueJob>();
        for (const one of calls) {
          let taken: readonly DueJob[] = [];
          if (one.kind === "put") {
            const { id, version, due } = one;
            const put = job(id, { shard: id % 4, class: id % 3, version, fireAt: start + due });
            window.putJob(put);
            model.set(put.jobId, put);
          } else if (one.kind === "take") {
            taken = window.takeDue(start + one.now, one.max, one.lane).jobs;
          } else {
            window.dropShards(new Set([one.shard]));
            for (const [id, held] of model) if (held.shard === one.shard) model.delete(id);
          }
          expect(taken).toEqual(taken.map((held) => model.get(held.jobId)));
          for (const held of taken) model.delete(held.jobId);
          expect(window.size).toBe(model.size);
          for (const shard of [0, 1, 2, 3]) {
            const held = [...model.values()].filter((other) => other.shard === shard);
            for (const queue of [0, 1, 2] as const)
              expect(window.heldOf(shard, queue)).toBe(held.filter((other) => other.class === queue).length);
          }
        }
        const rest = [0, 1].flatMap((lane) => idsOf(window.takeDue(start + 100, 1_000, lane).jobs));
        expect(rest.toSorted()).toEqual([...model.keys()].toSorted());
      }),
    );
  });
});
