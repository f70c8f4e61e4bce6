import type { MaintenanceWindow } from "@carillon/core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CalendarCache, CalendarCompiler } from "../../../src/calendars/calendar-cache.js";
import { membershipOf, shardOf } from "../../../src/cluster/shards.js";
import type { EngineEvent } from "../../../src/index.js";
import { Scheduler } from "../../../src/scheduler/scheduler.js";
import { actor, type ChangeHarness, changeHarness, every } from "../../harness/change-harness.js";
import { schedulerContext } from "../../harness/scheduler-context.js";

const day = 86_400_000;

let h: ChangeHarness;
let scheduler: Scheduler;
let events: EngineEvent[] = [];

beforeAll(async () => {
  h = await changeHarness();
  const { node: nodeId, shards } = h.fence;
  const epochs = new Map(shards.map(({ id, epoch }) => [id, epoch]));
  const membership = membershipOf(nodeId, epochs);
  const context = schedulerContext({
    now: () => h.db.clock.now(),
    membership: () => membership,
    emit: (event) => events.push(event),
  });
  scheduler = new Scheduler(context, {
    store: h.store.fires,
    calendars: new CalendarCache(h.store.calendars, new CalendarCompiler()),
    limits: { aheadMs: 0 },
  });
});

beforeEach(() => {
  events = [];
});

afterAll(() => h.close());

/** Around this moment. */
function window(mode: "hold" | "skip", queue: string): MaintenanceWindow {
  const time = { kind: "once", from: h.last - day, to: h.last + day } as const;
  return { name: `${mode}-${queue}`, mode, scope: { queue }, time };
}

/** Lets the scheduler look, as its loop would, until it has said what is waited for. */
async function until(type: EngineEvent["type"], jobId: string): Promise<void> {
  const isSaid = (event: EngineEvent): boolean => event.type === type && "jobId" in event && event.jobId === jobId;
  scheduler.readShards(h.fence.shards.map((shard) => shard.id));
  while (!events.some(isSaid)) await scheduler.tick();
}

const revision = async (): Promise<number> => (await h.store.fires.windows()).revision;

describe("a maintenance window", () => {
  it("increases the revision with every change of a maintenance window, and only then", async () => {
    const before = await revision();
    const put = await h.engine.windows.put("default", window("hold", "elsewhere"), actor);
    expect(put).toMatchObject({
      created: true,
      window: { window: { scope: { namespace: "default", queue: "elsewhere" } } },
    });
    expect(await revision()).toBe(before + 1);
    expect(await h.engine.windows.put("default", window("hold", "elsewhere"), actor)).toMatchObject({ created: false });
    expect(await h.engine.windows.delete("default", "hold-elsewhere", actor)).toBe(true);
    expect(await revision()).toBe(before + 3);
    expect(await h.engine.windows.delete("default", "hold-elsewhere", actor)).toBe(false);
    expect(await revision()).toBe(before + 3);
    expect(await h.engine.windows.get("default", "hold-elsewhere")).toBeNull();
  });

  it("lists maintenance windows by name", async () => {
    await h.engine.windows.put("default", window("hold", "list-b"), actor);
    await h.engine.windows.put("default", window("hold", "list-a"), actor);
    const page = await h.engine.windows.list("default", { pageSize: 1 });
    expect(page).toMatchObject({ rows: [{ window: { name: "hold-list-a" } }], next: "hold-list-a" });
    for (const name of ["hold-list-a", "hold-list-b"]) await h.engine.windows.delete("default", name, actor);
  });

  it("refuses an invalid maintenance window with all its problems", async () => {
    const backwards = { ...window("hold", "q"), time: { kind: "once", from: 2, to: 1 } } as const;
    const refused = h.engine.windows.put("default", backwards, actor);
    await expect(refused).rejects.toMatchObject({ code: "maintenance_window_invalid", items: [{ pointer: "/to" }] });
    const foreign = h.engine.windows.put("default", { ...window("hold", "q"), scope: { namespace: "other" } }, actor);
    await expect(foreign).rejects.toMatchObject({ code: "maintenance_window_invalid" });
  });

  it("adds due occurrences inside a skipping window to the ledger, without a wakeup", async () => {
    const before = await h.recurring({ queue: "skipping", schedule: every(h.last) });
    await until("run.fired", before);
    await h.store.windows.put(1, window("skip", "skipping"));
    const id = await h.recurring({ queue: "skipping", schedule: every(h.last) });
    await until("occurrence.skipped", id);
    expect(await h.ledger(id)).toMatchObject([{ reason: "window", from_at: h.last, count: 1 }]);
    expect(await h.runs(id)).toEqual([]);
    await h.engine.windows.delete("default", "skip-skipping", actor);
  });

  it("holds due occurrences inside a holding window, and fires them when the window is deleted", async () => {
    await h.engine.windows.put("default", window("hold", "holding"), actor);
    const id = await h.recurring({ queue: "holding", schedule: every(h.last) });
    scheduler.readShards([shardOf(id, 1_024)]);
    const due = async (): Promise<unknown> => (await h.due(id))["next_fire_at"];
    while ((await due()) !== h.last + day) await scheduler.tick();
    expect(await h.runs(id)).toEqual([]);
    await h.store.windows.delete(1, "hold-holding");
    scheduler.windowsChanged();
    await until("run.fired", id);
    expect(await h.runs(id)).toMatchObject([{ nominal_at: h.last }]);
  });
});

describe("a day that a calendar closes", () => {
  it("adds a day that a calendar closes to the ledger when the schedule passes it", async () => {
    const today = Math.floor(h.last / day);
    const yesterday = { kind: "dates", ranges: [{ from: today - 1, to: today - 1 }], yearly: [] } as const;
    await h.engine.calendars.put("default", { name: "closed", rules: [yesterday] }, actor);
    const daily = {
      kind: "every",
      everyMs: day,
      anchor: h.last - 9 * day,
      calendars: { exclude: ["closed"] },
    } as const;
    const id = await h.recurring({ schedule: daily });
    const since = new Date(h.last - 2 * day).toISOString();
    await h.select("update carillon.job set created_at = $2 where id = $1", id, since);
    await until("run.fired", id);
    expect(await h.runs(id)).toHaveLength(1);
    expect(await h.ledger(id)).toMatchObject([
      { reason: "calendar", from_at: h.last - day, to_at: h.last - day, count: 1 },
    ]);
  });
});
