import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { membershipOf, shardOf } from "../../../../src/cluster/shards.js";
import type { Engine, EngineEvent } from "../../../../src/index.js";
import { Scheduler } from "../../../../src/scheduler/scheduler.js";
import { actor, type ChangeHarness, changeHarness, every, spec } from "../../../harness/change-harness.js";
import { EngineHarness } from "../../../harness/engine-harness.js";
import { schedulerContext } from "../../../harness/scheduler-context.js";

const shardCount = 1_024;
const yearly = { kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC" } as const;

describe("a change made through a node that does not own the job's shard", () => {
  let h: EngineHarness;
  let first: Engine;
  let second: Engine;
  beforeEach(async () => {
    h = await EngineHarness.create();
    first = await h.startNode("first");
    second = await h.startNode("second");
  });
  afterEach(() => h.close());

  /** A job of the second node. */
  async function elsewhere(): Promise<string> {
    const owners = new Map<number, string | null>();
    while (![...owners.values()].includes(second.nodeId)) {
      const { rows } = await h.database.query<{ id: number; owner: string | null }>({
        text: "select id, owner from carillon.shard",
      });
      for (const { id, owner } of rows) owners.set(id, owner);
    }
    for (;;) {
      const { id } = await first.jobs.create("default", spec({ schedule: yearly }));
      if (owners.get(shardOf(id, shardCount)) === second.nodeId) return id;
    }
  }

  it("fires a job at once that a node without its shard made due", async () => {
    const id = await elsewhere();
    const at = Math.ceil(h.database.clock.now()) + 100;
    await first.jobs.edit("default", { id }, (job) => ({ ...job, schedule: { kind: "at", at } }), actor);
    await h.until(() => h.count("run.fired") === 1);
    const fired = h.events.filter((event) => event.type === "run.fired");
    expect(fired).toMatchObject([{ jobId: id, scheduledFor: at }]);
    // A full scan runs every 15 s, a wakeup arrives in milliseconds.
    expect(fired[0]?.lateMs).toBeLessThan(5_000);
  });

  it("fires a job again after a pause that another node stored has ended [INV-11]", async () => {
    const id = await elsewhere();
    const at = Math.ceil(h.database.clock.now()) + 600_000;
    await first.jobs.edit("default", { id }, (job) => ({ ...job, schedule: { kind: "at", at } }), actor);
    const until = Math.ceil(h.database.clock.now()) + 300;
    await first.jobs.pause("default", { id }, { reason: null, until, missed: "all" }, actor);
    // While it is paused its instant is moved into the pause.
    await first.jobs.edit("default", { id }, (job) => ({ ...job, schedule: { kind: "at", at: until - 1 } }), actor);
    await h.until(() => h.count("run.fired") === 1);
    expect(h.events.filter((event) => event.type === "run.fired")).toMatchObject([
      { jobId: id, scheduledFor: until - 1 },
    ]);
    expect(await second.jobs.get("default", { id })).toMatchObject({ state: "completed", pause: null, version: 5 });
  });
});

describe("a change whose wakeup is lost", () => {
  let h: ChangeHarness;
  let scheduler: Scheduler;
  let skewMs = 0;
  let events: EngineEvent[] = [];
  beforeAll(async () => {
    h = await changeHarness();
  });
  afterAll(() => h.close());
  beforeEach(async () => {
    [skewMs, events] = [0, []];
    const { node: nodeId, shards } = h.fence;
    const epochs = new Map(shards.map(({ id, epoch }) => [id, epoch]));
    const membership = membershipOf(nodeId, epochs);
    const context = schedulerContext({
      now: () => h.db.clock.now() + skewMs,
      membership: () => membership,
      emit: (event) => void events.push(event),
    });
    scheduler = new Scheduler(context, { store: h.store.fires, limits: { aheadMs: 0 } });
    scheduler.readShards(shards.map((shard) => shard.id));
    // The first scan reads the shards in parts.
    do await scheduler.tick();
    while (scheduler.idleMs === 0);
  });

  const firesOf = (id: string): EngineEvent[] =>
    events.filter((event) => event.type === "run.fired" && event.jobId === id);

  it("finds a job whose change was not announced in the owner's full scan [INV-11]", async () => {
    const { id } = await h.engine.jobs.create("default", spec({ schedule: yearly }));
    const at = h.last;
    await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, schedule: { kind: "at", at } }), actor);
    await scheduler.tick();
    expect(firesOf(id)).toEqual([]);
    skewMs = 16_000;
    while (firesOf(id).length === 0) await scheduler.tick();
    expect(await h.runs(id)).toMatchObject([{ nominal_at: at, version: 2 }]);
  });

  it("refuses the fire of a wheel entry from before an unannounced change, and reads the job again [INV-1]", async () => {
    const id = await h.recurring({ schedule: every(h.last) });
    const shard = shardOf(id, shardCount);
    const stale = (await h.store.fires.load([shard], h.last + 1, 1_000)).filter((job) => job.jobId === id);
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    expect(await h.runs(id)).toHaveLength(1);
    for (const job of stale) scheduler.jobDue(job);
    await scheduler.tick();
    expect(events).toContainEqual({ type: "write.fenced", statement: "due.fire", count: 1 });
    expect(firesOf(id)).toEqual([]);
    expect(await h.runs(id)).toHaveLength(1);
  });
});
