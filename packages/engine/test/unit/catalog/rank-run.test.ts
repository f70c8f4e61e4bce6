import type { QueueOrder } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { rankByPriority, rankRunBy, TaskDurations } from "../../../src/catalog/rank-run.js";

const run = { namespaceId: 1, queue: "q", task: "t", dueMs: 1_000_000, priority: 4 };

function ranks(order: QueueOrder | null, durations = new TaskDurations()) {
  const expectedMs = (...of: [number, string, string]) => durations.expectedMs(...of);
  return rankRunBy({ orderOf: (_, queue) => (queue === "q" ? order : null), expectedMs });
}

describe("rankRunBy", () => {
  it("an unknown queue ranks runs by priority", () => {
    expect(ranks(null)({ ...run, priority: 9 })).toBe(rankByPriority({ ...run, priority: 9 }));
    expect(ranks({ kind: "fifo" })({ ...run, queue: "other", priority: 9 })).toBeLessThan(run.dueMs);
  });

  it("a fifo queue ranks runs by due time, independent of priority", () => {
    expect(ranks({ kind: "fifo" })({ ...run, priority: 9 })).toBe(run.dueMs);
  });

  it("an edf queue ranks runs by deadline", () => {
    expect(ranks({ kind: "edf" })({ ...run, deadlineMs: run.dueMs + 7_000 })).toBe(run.dueMs + 7_000);
  });

  it("an sjf queue ranks short tasks before long ones, and tasks of unknown duration first", () => {
    const durations = new TaskDurations();
    durations.note({ namespaceId: 1, queue: "q", task: "long" }, 60_000);
    durations.note({ namespaceId: 1, queue: "q", task: "short" }, 100);
    const rank = ranks({ kind: "sjf" }, durations);
    const of = (task: string) => rank({ ...run, task });
    expect(of("new")).toBeLessThan(of("short"));
    expect(of("short")).toBeLessThan(of("long"));
  });
});

describe("TaskDurations", () => {
  const task = { namespaceId: 1, queue: "q", task: "t" };

  it("the expected duration follows the measured durations slowly", () => {
    const durations = new TaskDurations();
    durations.note(task, 1_000);
    durations.note(task, 2_000);
    expect(durations.expectedMs(1, "q", "t")).toBe(1_100);
    expect(durations.expectedMs(2, "q", "t")).toBeNull();
  });

  it("an expected duration is written when it has changed by more than a tenth", () => {
    const durations = new TaskDurations();
    durations.note(task, 1_000);
    expect(durations.takeChanged()).toEqual([{ ...task, expectedMs: 1_000 }]);
    durations.note(task, 1_500);
    expect(durations.takeChanged()).toEqual([]);
    durations.note(task, 9_000);
    expect(durations.takeChanged()).toHaveLength(1);
  });

  it("the durations of at most ten thousand tasks are kept", () => {
    const durations = new TaskDurations();
    for (let index = 0; index <= 10_000; index++) durations.note({ ...task, task: `t${index}` }, 1);
    expect(durations.expectedMs(1, "q", "t9999")).toBe(1);
    expect(durations.expectedMs(1, "q", "t10000")).toBeNull();
  });
});
