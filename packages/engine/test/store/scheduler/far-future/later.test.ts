import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunLister } from "../../../../src/runs/run-lister.js";
import { RunReader } from "../../../../src/runs/run-reader.js";
import { type Fence, laterStore, loadStatements } from "@carillon/store";
import { newId, type StoreHarness, storeHarness, untilSomebodyWaits } from "../../../harness/store-harness.js";

const minute = 60_000;
const day = 86_400_000;

let h: StoreHarness;
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => h.close());

const nowhere = new Map<number, number>();
const count = async (table: "run" | "run_later"): Promise<number> =>
  (await h.db.query({ text: `select from carillon.${table}` })).rowCount;
const places = async (): Promise<[number, number]> => [await count("run_later"), await count("run")];
const at = (fromNowMs: number): { runAt: number; nominal: number } => {
  const runAt = Math.round(Date.now() + fromNowMs);
  return { runAt, nominal: runAt };
};
const moveAll = (fence: Fence, until = Date.now() + 2 * day, limit = 1_000) =>
  h.store.later.move(fence, nowhere, until, limit);

describe("a one-off job", () => {
  it("that is due beyond the horizon is one row of run_later", async () => {
    await h.run(at(day));
    expect(await places()).toEqual([1, 0]);
  });

  it("that is due within the horizon, or now, never goes there", async () => {
    await h.run(at(10 * minute));
    await h.run();
    expect(await places()).toEqual([0, 2]);
  });

  it("is placed by the database's clock, each of a batch by itself", async () => {
    const id = await h.run(at(0));
    const [like] = await h.store.reads.live(1, [id]);
    const stored = await h.store.runs.insert(
      [0, 5 * minute, 30 * minute].map((ms) => {
        const one = newId();
        const rest = { namespaceId: 1, shard: 1, lane: 1, priority: 4, rank: 0, trigger: "once", payload: null };
        const names = { task: like?.task ?? "", queue: like?.queue ?? "" };
        return { id: one, jobId: one, ...rest, ...names, ...at(ms), policy: {}, labels: {}, owner: null };
      }),
    );
    expect(stored.map((run) => run.state).sort()).toEqual(["later", "queued", "scheduled"]);
  });

  it("is in run_later only if it is its job: the run of another job stays in the hot table", async () => {
    await h.run({ ...at(day), jobId: newId(), trigger: "run_now:x" });
    expect(await places()).toEqual([0, 1]);
  });
});

describe("the move", () => {
  it("brings a run over as it would have been stored near its time, payload byte for byte", async () => {
    const text = '{"b": 1.50, "a":[1e3,  "\\u00e9\\n", null ],"b":2}';
    const policy = { retry: { maxAttempts: 7 } };
    const id = await h.run({
      ...at(day),
      payload: 0,
      policy,
      labels: { team: "ops" },
      owner: "me",
      priority: 9,
      rank: 5,
    });
    await h.db.query({ text: "update carillon.run_later set payload = $1" }, [text]);
    const [before] = await h.store.reads.live(1, [id]);
    const [moved] = await moveAll(await h.takeAll(newId()));
    expect(moved).toMatchObject({ id, state: "scheduled", rank: 5 });
    expect((await h.store.reads.live(1, [id]))[0]).toEqual(before);
    expect(before).toMatchObject({ status: "scheduled", policy, labels: { team: "ops" }, owner: "me", priority: 9 });
    const { rows } = await h.db.query({ text: "select payload::text as text, rank, job_id from carillon.run" });
    expect(rows).toEqual([{ text, rank: 5, job_id: id }]);
    expect(await places()).toEqual([0, 1]);
  });

  it("changes nothing under an old epoch [INV-2]", async () => {
    const old = await h.takeAll(newId());
    await h.run(at(day));
    await h.takeAll(newId());
    expect(await moveAll(old)).toEqual([]);
    expect(await places()).toEqual([1, 0]);
  });

  it("changes nothing when the shard is taken over while the statement waits for it [INV-2]", async () => {
    const old = await h.takeAll(newId());
    await h.run(at(day));
    let zombie: Promise<unknown[]> = Promise.resolve([]);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "update carillon.shard set owner = $1, epoch = epoch + 1" }, [newId()]);
      zombie = moveAll(old);
      await untilSomebodyWaits(h);
    });
    expect(await zombie).toEqual([]);
    expect(await places()).toEqual([1, 0]);
  });

  it("by several movers at once brings each run over once [INV-1]", async () => {
    const fence = await h.takeAll(newId());
    for (let i = 0; i < 50; i++) await h.run(at(day));
    const moved = (await Promise.all([1, 2, 3, 4].map(() => moveAll(fence)))).flat();
    expect(new Set(moved.map((run) => run.id)).size).toBe(50);
    expect(moved).toHaveLength(50);
    expect(await places()).toEqual([0, 50]);
  });

  it("takes the first of each shard, at most as many as it may, from where it is told, until when it is told", async () => {
    const fence = await h.takeAll(newId());
    const ids: string[] = [];
    for (const days of [3, 1, 2, 4]) ids.push(await h.run({ ...at(days * day), shard: 7 }));
    const [third, first, second] = ids;
    expect((await moveAll(fence, Date.now() + 9 * day, 1)).map((run) => run.id)).toEqual([first]);
    const later = new Map([[7, Date.now() + 2.5 * day]]);
    const until = Date.now() + 3.5 * day;
    expect((await h.store.later.move(fence, later, until, 10)).map((run) => run.id)).toEqual([third]);
    expect((await moveAll(fence, until)).map((run) => run.id)).toEqual([second]);
  });

  it("leaves out a run that somebody holds, and brings the others", async () => {
    const fence = await h.takeAll(newId());
    const [held, free] = [await h.run(at(day)), await h.run(at(day))];
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select from carillon.run_later where id = $1 for update" }, [held]);
      expect((await moveAll(fence)).map((run) => run.id)).toEqual([free]);
    });
    expect((await moveAll(fence)).map((run) => run.id)).toEqual([held]);
  });

  it("queues what is overdue, and not a moment before its time by the database's clock [INV-5]", async () => {
    const fence = await h.takeAll(newId());
    const [overdue, ahead] = [await h.run(at(day)), await h.run(at(day))];
    await h.db.query({ text: "update carillon.run_later set run_at = now() - interval '2 days' where id = $1" }, [
      overdue,
    ]);
    const moved = await moveAll(fence);
    expect(moved.find((run) => run.id === overdue)?.state).toBe("queued");
    expect(moved.find((run) => run.id === ahead)?.state).toBe("scheduled");
    const session = await h.session();
    const claimed = await h.claim(session, 10);
    expect(claimed.map((run) => run.id)).toEqual([overdue]);
  });

  it("of a run that is in the hot table already changes nothing there [INV-1]", async () => {
    const fence = await h.takeAll(newId());
    const id = await h.run();
    const { runAt } = at(day);
    await h.run({ id, jobId: id, runAt, nominal: runAt, payload: "other" });
    expect(await moveAll(fence)).toEqual([]);
    expect(await places()).toEqual([0, 1]);
    expect((await h.store.reads.live(1, [id]))[0]?.payload).toEqual({ n: 1 });
  });
});

describe("readers", () => {
  it("find a run at every moment while it moves [INV-6]", async () => {
    const fence = await h.takeAll(newId());
    const reader = new RunLister(h.store.search, new RunReader(h.store.reads));
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push(await h.run({ ...at(day), shard: 7 }));
    const state = { isMoving: true };
    const missed: string[] = [];
    const watch = async (): Promise<void> => {
      do {
        const found = await new RunReader(h.store.reads).findMany(1, ids);
        const listed = new Set((await reader.list(1, {}, { pageSize: 100 })).rows.map((run) => run.id));
        missed.push(...ids.filter((id) => !found.has(id) || !listed.has(id)));
      } while (state.isMoving);
    };
    const watching = Promise.all([watch(), watch()]);
    while ((await moveAll(fence, Date.now() + 2 * day, 1)).length > 0);
    state.isMoving = false;
    await watching;
    expect(missed).toEqual([]);
  });

  it("see a run once although it is uncommitted on its way, and in the order of ids with the others", async () => {
    const fence = await h.takeAll(newId());
    const ids = [await h.run(at(day)), await h.run(at(minute)), await h.run(at(2 * day)), await h.run()];
    const reader = new RunLister(h.store.search, new RunReader(h.store.reads));
    const pages = async (): Promise<string[]> => {
      const seen: string[] = [];
      for (let after: string | null | undefined; after !== null;) {
        const page = await reader.list(1, {}, after === undefined ? { pageSize: 2 } : { pageSize: 2, after });
        seen.push(...page.rows.map((run) => run.id));
        after = page.next;
      }
      return seen;
    };
    await h.db.transaction(async (tx) => {
      const inside = laterStore(tx, loadStatements("carillon"));
      expect(await inside.move(fence, nowhere, Date.now() + 3 * day, 10)).toHaveLength(2);
      expect(await pages()).toEqual(ids.toReversed());
    });
    expect(await pages()).toEqual(ids.toReversed());
    expect(await count("run_later")).toBe(0);
  });

  it("filter runs far from their time as the others", async () => {
    const id = await h.run({ ...at(day), owner: "me" });
    await h.run({ ...at(day), owner: "you" });
    const reader = new RunLister(h.store.search, new RunReader(h.store.reads));
    const ids = async (filter: Parameters<RunLister["list"]>[1]): Promise<number> =>
      (await reader.list(1, filter, { pageSize: 10 })).rows.length;
    expect(await ids({ task: "echo", queue: "default", status: ["scheduled"], oneOffOnly: true })).toBe(2);
    expect(await ids({ owner: "me" })).toBe(1);
    expect(await ids({ jobId: id })).toBe(1);
    for (const none of [{ task: "other" }, { queue: "other" }, { workerId: newId() }, { jobId: newId() }]) {
      expect(await ids(none)).toBe(0);
    }
    expect(await ids({ status: ["queued", "succeeded"] })).toBe(0);
    expect(await new RunReader(h.store.reads).find(2, id)).toBeNull();
  });
});
