import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Engine, type EnqueuedRun, loadStatements } from "../../../src/index.js";
import { dayPartitions } from "@carillon/store";
import { createEngineStore } from "../../harness/engine-store.js";
import { EnqueueHarness, keyed, runSpec } from "../../harness/enqueue-harness.js";
import { newId } from "../../harness/store-harness.js";

let harness: EnqueueHarness;
let engine: Engine;

beforeEach(async () => {
  harness = await EnqueueHarness.create();
  engine = await harness.node();
  await dayPartitions(harness.database, loadStatements("carillon"), "run_history").ensure(Date.now() - 86_400_000, 3);
});

afterEach(() => harness.close());

const enqueue = (...args: Parameters<typeof keyed>) => engine.enqueuer.enqueue("default", keyed(...args));
const live = async (): Promise<string[]> =>
  (
    await harness.rows<{ id: string }>(
      "select id from carillon.run union all select id from carillon.far_future_run order by id",
    )
  ).map((row) => row.id);
const hourMs = 3_600_000;
const pause = (id: string) =>
  engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, { actor: null });

describe("a dedupe key", () => {
  it("that a live run has stands for that run", async () => {
    const first = await enqueue("a");
    expect(first.isNew).toBe(true);
    expect(await enqueue("a")).toEqual({ id: first.id, isNew: false });
    expect(await enqueue("b")).toMatchObject({ isNew: true });
    expect(await live()).toHaveLength(2);
  });

  it("belongs to one task; without a key the task itself is the identity", async () => {
    const first = await enqueue("");
    const other = { ...keyed(""), task: "other" };
    expect(await engine.enqueuer.enqueue("default", other)).toMatchObject({ isNew: true });
    expect(await enqueue("")).toEqual({ id: first.id, isNew: false });
  });

  it("is free again when its run has ended", async () => {
    const first = await enqueue("a");
    await harness.end(first.id);
    const second = await enqueue("a");
    expect(second).toMatchObject({ isNew: true });
    expect(await enqueue("a")).toEqual({ id: second.id, isNew: false });
  });

  it("with a window counts for that time after the end", async () => {
    const first = await enqueue("a", { windowMs: hourMs });
    await harness.end(first.id);
    expect(await enqueue("a", { windowMs: 1 })).toEqual({ id: first.id, isNew: false });
    await harness.rows("update carillon.dedupe set window_ms = 1");
    expect(await enqueue("a")).toMatchObject({ isNew: true });
  });

  it("is refused by name where a duplicate is to be an error", async () => {
    const first = await enqueue("a");
    await expect(enqueue("a", { on: "reject" })).rejects.toMatchObject({
      code: "run_duplicate",
      message: expect.stringContaining("run_"),
    });
    expect(await live()).toEqual([first.id]);
  });

  it("of a run whose job was changed before its time counts until that has run or is cancelled", async () => {
    const first = await engine.enqueuer.enqueue("default", { ...keyed("a"), runAt: Date.now() + hourMs });
    const ref = { id: first.id };
    await pause(first.id);
    expect(await enqueue("a")).toEqual({ id: first.id, isNew: false });
    await harness.rows("update carillon.dedupe set check_at = now()");
    expect(await createEngineStore(harness.database).dedupes.sweep(100)).toEqual({ gone: 0, kept: 1 });
    await engine.jobs.cancel("default", ref, { running: "keep" }, { actor: null });
    expect(await enqueue("a")).toMatchObject({ isNew: true });
  });

  it("of a run that waits far from its time counts as well", async () => {
    const far = await engine.enqueuer.enqueue("default", { ...keyed("a"), runAt: Date.now() + 48 * hourMs });
    expect(await enqueue("a")).toEqual({ id: far.id, isNew: false });
  });
});

describe("a run that replaces", () => {
  it("takes the place of one that waits, which ends as cancelled [INV-6]", async () => {
    const first = await enqueue("a");
    const second = await enqueue("a", { on: "replace" });
    expect(second).toMatchObject({ isNew: true });
    expect(await live()).toEqual([second.id]);
    expect(await engine.runs.get("default", first.id)).toMatchObject({
      status: "cancelled",
      statusReason: "cancelled_by_dedupe",
    });
  });

  it("takes the place of one that waits far from its time", async () => {
    const far = await engine.enqueuer.enqueue("default", { ...keyed("a"), runAt: Date.now() + 48 * hourMs });
    const near = await enqueue("a", { on: "replace" });
    const again = await engine.enqueuer.enqueue("default", {
      ...keyed("a", { on: "replace" }),
      runAt: Date.now() + 48 * hourMs,
    });
    expect(await live()).toEqual([again.id]);
    for (const { id } of [far, near]) {
      expect(await engine.runs.get("default", id)).toMatchObject({ status: "cancelled", task: "work" });
    }
  });

  it("takes the place of one whose job was changed before its time: that is cancelled with it, whoever replaces", async () => {
    const later = { runAt: Date.now() + hourMs };
    const first = await engine.enqueuer.enqueue("default", { ...keyed("a"), ...later });
    await pause(first.id);
    const second = await engine.enqueuer.enqueue("default", { ...keyed("a", { on: "replace" }), ...later });
    await pause(second.id);
    const bySql = async (on: string) =>
      (
        await harness.rows<{ run_id: string; is_new: boolean }>(
          "select * from carillon.enqueue('work', dedupe_key => 'a', dedupe_on => $1)",
          [on],
        )
      )[0];
    expect(await bySql("ignore")).toEqual({ run_id: second.id, is_new: false });
    await expect(bySql("reject")).rejects.toMatchObject({ code: "23505" });
    const third = await bySql("replace");
    expect(third).toMatchObject({ is_new: true });
    expect(await live()).toEqual([third?.run_id]);
    for (const { id } of [first, second]) {
      const replaced = { status: "cancelled", statusReason: "cancelled_by_dedupe" };
      expect(await engine.runs.get("default", id)).toMatchObject(replaced);
      expect(await engine.jobs.get("default", { id })).toMatchObject({ state: "cancelled", lastRun: replaced });
    }
  });

  it("leaves alone one that a worker has, and counts from then on", async () => {
    const first = await enqueue("a");
    await harness.hold(first.id);
    const second = await enqueue("a", { on: "replace" });
    expect(second).toMatchObject({ isNew: true });
    expect(await live()).toEqual([first.id, second.id].sort());
    expect(await enqueue("a")).toEqual({ id: second.id, isNew: false });
  });
});

describe("concurrent enqueuers", () => {
  const ids = (enqueued: readonly EnqueuedRun[]) => enqueued.map((one) => ("error" in one ? one.error : one.id));

  it("of one key over several nodes get one run, and exactly one of them is told that it is new [INV-13]", async () => {
    const nodes = [engine, await harness.node(), await harness.node()];
    for (let round = 0; round < 20; round++) {
      const calls = Array.from({ length: 30 }, (_, at) =>
        nodes[at % nodes.length]?.enqueuer.enqueue("default", keyed(`k${round}-${at % 3}`)),
      );
      const answers = await Promise.all(calls);
      expect(answers.filter((one) => one?.isNew)).toHaveLength(3);
      expect(new Set(answers.map((one) => one?.id)).size).toBe(3);
    }
    expect(await live()).toHaveLength(60);
  });

  it("that replace leave one run, and every other one is in history [INV-13]", async () => {
    const nodes = [engine, await harness.node(), await harness.node()];
    const calls = Array.from({ length: 90 }, (_, at) =>
      nodes[at % nodes.length]?.enqueuer.enqueue("default", keyed("k", { on: "replace" })),
    );
    const answers = await Promise.all(calls);
    expect(new Set(answers.map((one) => one?.id)).size).toBe(90);
    expect(await live()).toHaveLength(1);
    const ended = await harness.rows("select 1 from carillon.run_history where status_reason = 'cancelled_by_dedupe'");
    expect(ended).toHaveLength(89);
  });

  it("while runs end at the same time: never two live ones of a key [INV-13]", async () => {
    const nodes = [engine, await harness.node()];
    await harness.rows(`create table carillon.seen (n int);
      create function carillon.count_live() returns trigger language plpgsql as $$ begin
        insert into carillon.seen select count(*) from carillon.run; return null; end $$;
      create trigger count_live after insert on carillon.run for each statement execute function carillon.count_live()`);
    const enough = new AbortController();
    const ender = (async () => {
      while (!enough.signal.aborted) for (const id of await live()) await harness.end(id);
    })();
    let made = 0;
    const caller = async (node: Engine | undefined): Promise<void> => {
      for (let call = 0; call < 100; call++) if ((await node?.enqueuer.enqueue("default", keyed("k")))?.isNew) made++;
    };
    await Promise.all([0, 1, 2, 3].map((at) => caller(nodes[at % 2])));
    enough.abort();
    await ender;
    for (const id of await live()) await harness.end(id);
    expect(await harness.rows("select 1 from carillon.seen where n > 1")).toEqual([]);
    expect(await harness.rows("select 1 from carillon.run_history")).toHaveLength(made);
    expect(made).toBeGreaterThan(0);
  });

  it("in one batch: the first of a key counts, the last replacement wins, the order of the answers is theirs", async () => {
    const enqueued = await engine.enqueuer.enqueueMany("default", [
      keyed("a"),
      runSpec(),
      keyed("a"),
      keyed("b"),
      keyed("a", { on: "replace" }),
      keyed("a"),
      keyed("b", { on: "reject" }),
    ]);
    const [first, plain, same, other, replaced, after, refused] = ids(enqueued);
    expect(same).toBe(first);
    expect(after).toBe(replaced);
    expect(refused).toMatchObject({ code: "run_duplicate" });
    expect(await live()).toEqual([plain, other, replaced].map(String).sort());
  });

  it("wait for a transaction that holds their key only for a moment; others are not kept", async () => {
    const { database } = harness;
    await database.transaction(async (tx) => {
      await tx.query({
        text: `insert into carillon.dedupe (namespace_id, task, key, run_id, created_at, check_at)
               values (1, 'work', 'held', gen_random_uuid(), now(), now())`,
      });
      const [held, free] = await engine.enqueuer.enqueueMany("default", [keyed("held"), keyed("free")]);
      expect(held).toMatchObject({ error: { code: "dedupe_busy" } });
      expect(free).toMatchObject({ isNew: true });
    });
  });
});

describe("the sweep of dedupe keys", () => {
  it("removes those that count no more and keeps the others, without looking at them all the time [INV-12]", async () => {
    const store = createEngineStore(harness.database);
    const ended = await enqueue("ended");
    await enqueue("live");
    const windowed = await enqueue("window", { windowMs: hourMs });
    await harness.end(ended.id);
    await harness.end(windowed.id);
    expect(await store.dedupes.sweep(100)).toEqual({ gone: 0, kept: 0 });
    await harness.rows("update carillon.dedupe set check_at = now()");
    expect(await store.dedupes.sweep(100)).toEqual({ gone: 1, kept: 2 });
    expect(await store.dedupes.sweep(100)).toEqual({ gone: 0, kept: 0 });
    const left = await harness.rows("select key from carillon.dedupe where check_at > now() order by key");
    expect(left).toEqual([{ key: "live" }, { key: "window" }]);
  });

  it("leaves a row that is taken over while it looks [INV-13]", async () => {
    const { database } = harness;
    const first = await enqueue("a");
    await harness.end(first.id);
    await harness.rows("update carillon.dedupe set check_at = now()");
    const next = newId();
    const sweep = await database.transaction(async (tx) => {
      await tx.query({ text: "update carillon.dedupe set run_id = $1" }, [next]);
      const waiting = createEngineStore(harness.database).dedupes.sweep(100);
      for (let found = 0; found === 0;) {
        found = (await harness.rows("select 1 from pg_stat_activity where wait_event_type = 'Lock'")).length;
      }
      return { waiting };
    });
    expect(await sweep.waiting).toEqual({ gone: 0, kept: 0 });
    expect(await harness.rows("select run_id from carillon.dedupe")).toEqual([{ run_id: next }]);
  });
});
