import type { ScheduleSpec } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hourMs, minuteMs, type SchedulerHarness, schedulerHarness } from "../../harness/scheduler-harness.js";

let h: SchedulerHarness;
beforeEach(async () => {
  h = await schedulerHarness();
});
afterEach(() => h.close());

const now = (): number => Math.floor(h.db.clock.now());
const once = (mode: "hold" | "skip", from: number, to: number, queue = "default") => ({
  mode,
  scope: { queue },
  time: { kind: "once", from, to },
});

/** A job for one instant a moment ago. */
async function oneOff(over: { labels?: Record<string, string> } = {}): Promise<{ jobId: string; at: number }> {
  const at = now() - 1_000;
  const schedule: ScheduleSpec = { kind: "every", everyMs: 30 * 24 * hourMs, anchor: at };
  const { jobId } = await h.job({ schedule, nextNominal: at, nextFireAt: at, ...over });
  return { jobId, at };
}

describe("maintenance windows", () => {
  it("a skipping window leaves a ledger entry with its name [INV-11]", async () => {
    await h.window("upgrade", once("skip", now() - hourMs, now() + hourMs));
    const { jobId, at } = await oneOff();
    const node = await h.node();
    await node.settle();
    expect(await h.fired(jobId)).toEqual([]);
    expect(await h.ledger(jobId)).toMatchObject([{ reason: "window", from: at, to: at, count: 1, detail: "upgrade" }]);
    expect(node.events).toContainEqual({ type: "occurrence.skipped", jobId, reason: "window", count: 1 });
  });

  it("a holding window holds the occurrence until the window's end and is named as the reason [INV-11]", async () => {
    const end = now() + hourMs;
    await h.window("upgrade", once("hold", now() - hourMs, end));
    const { jobId, at } = await oneOff();
    await (await h.node()).settle();
    expect(await h.fired(jobId)).toEqual([]);
    expect(await h.due(jobId)).toMatchObject({ next_nominal_at: at, next_fire_at: end, state_reason: "held 1" });
  });

  it("a held occurrence fires after the window, under every misfire policy", async () => {
    const at = now() - 2 * hourMs;
    await h.window("upgrade", once("hold", now() - 3 * hourMs, now() - hourMs));
    const schedule: ScheduleSpec = { kind: "every", everyMs: 30 * 24 * hourMs, anchor: at };
    const what = { firing: { misfire: "skip" }, nextNominal: at, nextFireAt: now() - hourMs } as const;
    const { jobId } = await h.job({ schedule, ...what });
    await (await h.node()).settle();
    expect(await h.fired(jobId)).toEqual([at]);
    expect(await h.ledger(jobId)).toEqual([]);
  });

  it("a window applies only to jobs with its queue and labels", async () => {
    await h.window("a", once("skip", now() - hourMs, now() + hourMs, "other"));
    await h.window("b", { ...once("skip", now() - hourMs, now() + hourMs), scope: { labels: { team: "ops" } } });
    const [free, ops] = [await oneOff(), await oneOff({ labels: { team: "ops" } })];
    await (await h.node()).settle();
    expect(await h.fired(free.jobId)).toEqual([free.at]);
    expect(await h.fired(ops.jobId)).toEqual([]);
  });

  it("a fire that was planned before a window committed is refused", async () => {
    let isFirst = true;
    const node = await h.node({
      around: (store) => ({
        ...store,
        async fire(terms, rows) {
          if (isFirst) await h.window("upgrade", once("skip", now() - hourMs, now() + hourMs));
          isFirst = false;
          return store.fire(terms, rows);
        },
      }),
    });
    const { jobId } = await oneOff();
    await node.settle();
    expect(isFirst).toBe(false);
    expect(await h.fired(jobId)).toEqual([]);
    expect(await h.ledger(jobId)).toMatchObject([{ reason: "window", detail: "upgrade" }]);
    expect(node.events).toContainEqual({ type: "write.fenced", statement: "due.fire", count: 1 });
  });

  it("the removal of a window releases the occurrences that it held", async () => {
    await h.window("upgrade", once("hold", now() - hourMs, now() + hourMs));
    const { jobId, at } = await oneOff();
    const node = await h.node();
    await node.settle();
    await h.window("upgrade", null);
    node.scheduler.windowsChanged();
    await node.settle();
    expect(await h.fired(jobId)).toEqual([at]);
  });

  it("the first node after a stop releases the occurrences of a window that was removed meanwhile", async () => {
    await h.window("upgrade", once("hold", now() - hourMs, now() + hourMs));
    const { jobId, at } = await oneOff();
    await (await h.node()).settle();
    await h.window("upgrade", null);
    await (await h.node()).settle();
    expect(await h.fired(jobId)).toEqual([at]);
  });

  it("a window that becomes longer keeps holding", async () => {
    await h.window("upgrade", once("hold", now() - hourMs, now() + minuteMs));
    const { jobId } = await oneOff();
    const node = await h.node();
    await node.settle();
    const end = now() + hourMs;
    await h.window("upgrade", once("hold", now() - hourMs, end));
    node.scheduler.windowsChanged();
    await node.settle();
    expect(await h.due(jobId)).toMatchObject({ next_fire_at: end, state_reason: "held 2" });
  });
});

describe("the ledger", () => {
  it("the ledger extends one range while a window skips occurrence after occurrence [INV-11]", async () => {
    await h.window("upgrade", once("skip", now() - hourMs, now() + hourMs));
    const schedule: ScheduleSpec = { kind: "every", everyMs: 400, anchor: now() - 400 };
    const at = now();
    const { jobId } = await h.job({ schedule, nextNominal: at, nextFireAt: at });
    const node = await h.node();
    await node.until("occurrence.skipped", 4);
    const ledger = await h.ledger(jobId);
    expect(ledger).toHaveLength(1);
    expect(ledger[0]).toMatchObject({ reason: "window", detail: "upgrade", from: at });
    expect(ledger[0]?.count).toBeGreaterThanOrEqual(4);
  });
});
