import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunLister } from "../../../../src/runs/run-lister.js";
import { RunReader } from "../../../../src/runs/run-reader.js";
import { type Fence, farFutureStore, loadStatements } from "@carillon/store";
import { newId, type StoreHarness, storeHarness, untilLockWaits } from "../../../harness/store-harness.js";

const minute = 60_000;
const day = 86_400_000;

let h: StoreHarness;
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => h.close());

const nowhere = new Map<number, number>();
const count = async (table: "run" | "far_future_run"): Promise<number> =>
  (await h.db.query({ text: `select from carillon.${table}` })).rowCount;
const places = async (): Promise<[number, number]> => [await count("far_future_run"), await count("run")];
const at = (fromNowMs: number): { runAt: number; nominal: number } => {
  const runAt = Math.round(Date.now() + fromNowMs);
  return { runAt, nominal: runAt };
};
const promoteAll = (fence: Fence, until = Date.now() + 2 * day, limit = 1_000) =>
  h.store.farFuture.promote(fence, nowhere, until, limit);

describe("storing a one-off job", () => {
  it("stores a job that is due beyond the horizon as one row of far_future_run", async () => {
    await h.run(at(day));
    expect(await places()).toEqual([1, 0]);
  });

  it("stores a job that is due now or within the horizon in run", async () => {
    await h.run(at(10 * minute));
    await h.run();
    expect(await places()).toEqual([0, 2]);
  });

  it("chooses the table by the database's clock, separately for each job of a batch", async () => {
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
    expect(stored.map((run) => run.state).sort()).toEqual(["far_future", "queued", "scheduled"]);
  });

  it("stores a far run that is not its own job in run, not in far_future_run", async () => {
    await h.run({ ...at(day), jobId: newId(), trigger: "run_now:x" });
    expect(await places()).toEqual([0, 1]);
  });
});

describe("promotion", () => {
  it("a promotion stores a run as if it was created near its time, with the same payload bytes", async () => {
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
    await h.db.query({ text: "update carillon.far_future_run set payload = $1" }, [text]);
    const [before] = await h.store.reads.live(1, [id]);
    const [promoted] = await promoteAll(await h.takeAll(newId()));
    expect(promoted).toMatchObject({ id, state: "scheduled", rank: 5 });
    expect((await h.store.reads.live(1, [id]))[0]).toEqual(before);
    expect(before).toMatchObject({ status: "scheduled", policy, labels: { team: "ops" }, owner: "me", priority: 9 });
    const { rows } = await h.db.query({ text: "select payload::text as text, rank, job_id from carillon.run" });
    expect(rows).toEqual([{ text, rank: 5, job_id: id }]);
    expect(await places()).toEqual([0, 1]);
  });

  it("a promotion under an old epoch moves no run [INV-2]", async () => {
    const old = await h.takeAll(newId());
    await h.run(at(day));
    await h.takeAll(newId());
    expect(await promoteAll(old)).toEqual([]);
    expect(await places()).toEqual([1, 0]);
  });

  it("a promotion moves no run if the shard is taken over while the statement waits for its row [INV-2]", async () => {
    const old = await h.takeAll(newId());
    await h.run(at(day));
    let zombie: Promise<unknown[]> = Promise.resolve([]);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "update carillon.shard set owner = $1, epoch = epoch + 1" }, [newId()]);
      zombie = promoteAll(old);
      await untilLockWaits(h);
    });
    expect(await zombie).toEqual([]);
    expect(await places()).toEqual([1, 0]);
  });

  it("concurrent promoters move each run once [INV-1]", async () => {
    const fence = await h.takeAll(newId());
    for (let i = 0; i < 50; i++) await h.run(at(day));
    const promoted = (await Promise.all([1, 2, 3, 4].map(() => promoteAll(fence)))).flat();
    expect(new Set(promoted.map((run) => run.id)).size).toBe(50);
    expect(promoted).toHaveLength(50);
    expect(await places()).toEqual([0, 50]);
  });

  it("a promotion moves the first runs of each shard, up to the limit and within the given range", async () => {
    const fence = await h.takeAll(newId());
    const ids: string[] = [];
    for (const days of [3, 1, 2, 4]) ids.push(await h.run({ ...at(days * day), shard: 7 }));
    const [third, first, second] = ids;
    expect((await promoteAll(fence, Date.now() + 9 * day, 1)).map((run) => run.id)).toEqual([first]);
    const from = new Map([[7, Date.now() + 2.5 * day]]);
    const until = Date.now() + 3.5 * day;
    expect((await h.store.farFuture.promote(fence, from, until, 10)).map((run) => run.id)).toEqual([third]);
    expect((await promoteAll(fence, until)).map((run) => run.id)).toEqual([second]);
  });

  it("a promotion skips a locked run and moves the others", async () => {
    const fence = await h.takeAll(newId());
    const [held, free] = [await h.run(at(day)), await h.run(at(day))];
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select from carillon.far_future_run where id = $1 for update" }, [held]);
      expect((await promoteAll(fence)).map((run) => run.id)).toEqual([free]);
    });
    expect((await promoteAll(fence)).map((run) => run.id)).toEqual([held]);
  });

  it("a promotion queues an overdue run, and no run before its time by the database's clock [INV-5]", async () => {
    const fence = await h.takeAll(newId());
    const [overdue, ahead] = [await h.run(at(day)), await h.run(at(day))];
    await h.db.query({ text: "update carillon.far_future_run set run_at = now() - interval '2 days' where id = $1" }, [
      overdue,
    ]);
    const promoted = await promoteAll(fence);
    expect(promoted.find((run) => run.id === overdue)?.state).toBe("queued");
    expect(promoted.find((run) => run.id === ahead)?.state).toBe("scheduled");
    const session = await h.session();
    const claimed = await h.claim(session, 10);
    expect(claimed.map((run) => run.id)).toEqual([overdue]);
  });

  it("a promotion does not change a run that is already in the hot table [INV-1]", async () => {
    const fence = await h.takeAll(newId());
    const id = await h.run();
    const { runAt } = at(day);
    await h.run({ id, jobId: id, runAt, nominal: runAt, payload: "other" });
    expect(await promoteAll(fence)).toEqual([]);
    expect(await places()).toEqual([0, 1]);
    expect((await h.store.reads.live(1, [id]))[0]?.payload).toEqual({ n: 1 });
  });
});

describe("readers during a promotion", () => {
  it("find a run at every moment of its promotion [INV-6]", async () => {
    const fence = await h.takeAll(newId());
    const reader = new RunLister(h.store.search, new RunReader(h.store.reads));
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push(await h.run({ ...at(day), shard: 7 }));
    const state = { isPromoting: true };
    const missed: string[] = [];
    const watch = async (): Promise<void> => {
      do {
        const found = await new RunReader(h.store.reads).findMany(1, ids);
        const listed = new Set((await reader.list(1, {}, { pageSize: 100 })).rows.map((run) => run.id));
        missed.push(...ids.filter((id) => !found.has(id) || !listed.has(id)));
      } while (state.isPromoting);
    };
    const watching = Promise.all([watch(), watch()]);
    while ((await promoteAll(fence, Date.now() + 2 * day, 1)).length > 0);
    state.isPromoting = false;
    await watching;
    expect(missed).toEqual([]);
  });

  it("see a run once while its promotion is uncommitted, in the order of ids with the others", async () => {
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
      const inside = farFutureStore(tx, loadStatements("carillon"));
      expect(await inside.promote(fence, nowhere, Date.now() + 3 * day, 10)).toHaveLength(2);
      expect(await pages()).toEqual(ids.toReversed());
    });
    expect(await pages()).toEqual(ids.toReversed());
    expect(await count("far_future_run")).toBe(0);
  });

  it("filter runs of far_future_run as those of run", async () => {
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
