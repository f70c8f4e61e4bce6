import { systemClock, systemRandom, systemTimers } from "@carillon/core";
import { type FreshDatabase, freshDatabase } from "@carillon/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { audits, type Database, openDatabase, type Queryable, runAudit } from "../../../src/index.js";

const all = audits("carillon");
const ids = {
  job: "00000000-0000-7000-8000-000000000001",
  ended: "00000000-0000-7000-8000-000000000002",
  running: "00000000-0000-7000-8000-000000000003",
  retrying: "00000000-0000-7000-8000-000000000004",
  planted: "00000000-0000-7000-8000-000000000005",
  session: "00000000-0000-7000-8000-000000000006",
  node: "00000000-0000-7000-8000-000000000007",
};
const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();
const nominal = secondsAgo(20);
const tryOf = (fence: number): object => ({ attempt: fence, fence });

const what = { namespace_id: 1, priority: 4, task: "echo", queue: "default" };
const place = { shard: 1, lane: 1 };
const times = { run_at: nominal, nominal_at: nominal, created_at: secondsAgo(19) };
const counts = { attempt: 0, losses: 0, fence: 3 };
const live = { ...what, ...place, ...times, ...counts, rank: 1, trigger: "once", state: "queued" };
const ended = { ...what, ...times, ...counts, trigger: "schedule", status: "succeeded", finished_at: secondsAgo(10) };
const job = { ...what, ...place, id: ids.job, schedule: {}, labels: {}, version: 1 };
const due = { job_id: ids.job, namespace_id: 1, shard: 1, class: 1, state: "active", version: 1, fired_count: 1 };
const session = { id: ids.session, namespace_id: 1, name: "w", queues: [], tasks: [], slots: 1 };

let home: FreshDatabase;
let db: Database;

beforeAll(async () => {
  home = await freshDatabase({ migrated: true });
  db = await openDatabase({
    url: home.url,
    schema: "carillon",
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
  });
  await db.query({ text: "create table carillon.run_history_all partition of carillon.run_history default" });
  await insertHealthyRows();
});
afterAll(async () => {
  await db.close();
  await home.drop();
});

async function insert(to: Queryable, table: string, row: object): Promise<void> {
  const columns = Object.keys(row).join(", ");
  const text = `insert into carillon.${table} (${columns})
    select ${columns} from jsonb_populate_record(null::carillon.${table}, $1::jsonb)`;
  await to.query({ text }, [JSON.stringify(row)]);
}

/** A node, a job whose last occurrence ran at the second try, a run at work, and one that waits after a failed try. */
async function insertHealthyRows(): Promise<void> {
  const node = { id: ids.node, name: "n", version: "0", started_at: secondsAgo(600), heartbeat_at: secondsAgo(1) };
  await insert(db, "node", node);
  const seen = { created_at: secondsAgo(60), updated_at: secondsAgo(60) };
  await insert(db, "job", { ...job, ...seen });
  const next = { next_nominal_at: secondsAgo(-60), next_fire_at: secondsAgo(-60), fired_through: nominal };
  await insert(db, "job_due", { ...due, ...next });
  const attempts = [tryOf(1), tryOf(2)];
  await insert(db, "run_history", { ...ended, id: ids.ended, job_id: ids.job, started_at: secondsAgo(15), attempts });
  await insert(db, "worker_session", { ...session, started_at: secondsAgo(60), heartbeat_at: secondsAgo(1) });
  const claim = { state: "running", session_id: ids.session, claimed_at: secondsAgo(5) };
  await insert(db, "run", { ...live, ...claim, id: ids.running, attempts: [tryOf(1)] });
  await insert(db, "run", { ...live, state: "retrying", id: ids.retrying, attempts: [tryOf(1), tryOf(3)] });
}

const planted = { ...live, id: ids.planted };
const later = {
  ...place,
  namespace_id: 1,
  priority: 4,
  run_at: nominal,
  created_at: nominal,
  rank: 1,
  id: ids.planted,
};

/** A concurrency limit that counts one holder although no run holds it. */
const limit = {
  namespace_id: 1,
  scope: "key",
  kind: "concurrency",
  name: "k",
  max_count: 1,
  used: 1,
  defined_at: secondsAgo(60),
};

/** What breaks each invariant, planted behind the product's back. */
const plants: Record<number, (tx: Queryable) => Promise<unknown>> = {
  1: (tx) => insert(tx, "run_history", { ...ended, id: ids.planted, job_id: ids.job }),
  2: (tx) => insert(tx, "run", { ...planted, fence: 2, attempts: [tryOf(2), tryOf(2)] }),
  4: (tx) => insert(tx, "run", { ...planted, id: ids.ended }),
  5: (tx) => insert(tx, "run_history", { ...ended, id: ids.planted, started_at: secondsAgo(30) }),
  6: (tx) => insert(tx, "run", { ...planted, state: "scheduled", run_at: secondsAgo(600) }),
  7: (tx) => insert(tx, "run", { ...planted, job_id: ids.job, namespace_id: 2 }),
  8: async (tx) => {
    for (const id of [ids.planted, ids.node]) await insert(tx, "run", { ...planted, id, limits: "o:1 customer" });
  },
  11: (tx) => tx.query({ text: "update carillon.job_due set fired_through = fired_through + interval '1 second'" }),
  14: (tx) => insert(tx, "limit_key", limit),
};

const overdueJob = {
  text: `update carillon.job_due set fired_through = null, next_nominal_at = times.past, next_fire_at = times.past
    from (select now() - interval '1 hour' as past) as times`,
};

describe("audits", () => {
  it("every audit query is tested with a planted violation", () => {
    expect(all.map(({ invariant }) => invariant)).toEqual(Object.keys(plants).map(Number));
  });

  it.each(all.map((audit) => [audit.invariant, audit] as const))(
    "the audits of the invariants find nothing in healthy rows, and what breaks invariant %i, with a row of it",
    async (invariant, audit) => {
      expect(await runAudit(db, audit)).toBeNull();
      const takenBack = new Error("the plant is taken back");
      const planting = db.transaction(async (tx) => {
        await plants[invariant]?.(tx);
        const found = await runAudit(tx, audit);
        expect(found).toMatchObject({ invariant, rule: audit.rule, example: expect.any(Object) });
        expect(found?.count).toBeGreaterThan(0);
        throw takenBack;
      });
      await expect(planting).rejects.toBe(takenBack);
    },
  );

  it("the audits check the runs of an occurrence only while its history is kept", async () => {
    const audit = all.find((one) => one.invariant === 11);
    if (audit === undefined) throw new Error("no such audit");
    const takenBack = new Error("the plant is taken back");
    const day = (ahead: number): string => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);
    const planting = db.transaction(async (tx) => {
      await plants[11]?.(tx);
      const name = `run_history_${day(1).replaceAll("-", "")}`;
      const range = `from ('${day(1)}') to ('${day(2)}')`;
      await tx.query({ text: `create table carillon.${name} partition of carillon.run_history for values ${range}` });
      expect(await runAudit(tx, audit)).toBeNull();
      throw takenBack;
    });
    await expect(planting).rejects.toBe(takenBack);
  });

  it.each<[string, number, (tx: Queryable) => Promise<unknown>]>([
    ["is in the hot table as well", 1, (tx) => insert(tx, "far_future_run", { ...later, id: ids.running })],
    ["has ended", 4, (tx) => insert(tx, "far_future_run", { ...later, id: ids.ended })],
    ["no node promotes", 6, (tx) => insert(tx, "far_future_run", { ...later, run_at: secondsAgo(600) })],
  ])("the audits find a far-future run that %s", async (_what, invariant, plant) => {
    const audit = all.find((one) => one.invariant === invariant);
    if (audit === undefined) throw new Error("no such audit");
    const takenBack = new Error("the plant is taken back");
    const planting = db.transaction(async (tx) => {
      await plant(tx);
      expect(await runAudit(tx, audit)).toMatchObject({ count: 1 });
      throw takenBack;
    });
    await expect(planting).rejects.toBe(takenBack);
  });

  it.each([
    ["run", 6],
    ["job", 11],
  ])("the audits do not report an overdue %s as lost while no node runs", async (kind, invariant) => {
    const audit = all.find((one) => one.invariant === invariant);
    if (audit === undefined) throw new Error("no such audit");
    const takenBack = new Error("the plant is taken back");
    const planting = db.transaction(async (tx) => {
      if (kind === "run") await plants[6]?.(tx);
      else await tx.query(overdueJob);
      expect(await runAudit(tx, audit)).toMatchObject({ count: 1 });
      await tx.query({ text: "update carillon.node set heartbeat_at = now() - interval '90 seconds'" });
      expect(await runAudit(tx, audit)).toBeNull();
      throw takenBack;
    });
    await expect(planting).rejects.toBe(takenBack);
  });
});
