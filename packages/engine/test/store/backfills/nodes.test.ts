import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEngineStore } from "../../harness/engine-store.js";
import { type BackfillHarness, backfillHarness, type BackfillNode } from "../../harness/backfill-harness.js";
import { overlapping } from "../../harness/change-harness.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";
import { newId, untilLockWaits } from "../../harness/store-harness.js";

/** A statement that was not sent, or one whose outcome is unknown. */
const away = expect.stringMatching(/^(database_unavailable|outcome_unknown)$/) as string;

let h: BackfillHarness;
let frail: FrailDatabase;

beforeEach(async () => {
  h = await backfillHarness();
  frail = await frailDatabase(h.url);
});
afterEach(async () => {
  await frail.close();
  await h.close();
});

const allowing = overlapping("allow");
/** A node whose statements all pass through frail.proxy. */
const frailNode = (): BackfillNode => h.makeNode(h.fence, createEngineStore(frail.database));

async function failing(node: BackfillNode): Promise<void> {
  await expect(node.runner.tick()).rejects.toMatchObject({ code: away });
}

/** The whole text of the statement: a transaction begins as "read committed". */
const commit = "commit\0";

/** A moment of a step at which the node's connection to the database breaks. */
interface Probe {
  readonly moment: string;
  /** Whether the step is committed although the node cannot know. */
  readonly isDone: boolean;
  breakIt(node: BackfillNode): Promise<void>;
}

const before = (statement: string, name = statement): Probe => ({
  moment: `before ${name} is sent`,
  isDone: false,
  async breakIt(node) {
    frail.breakBefore(statement);
    await failing(node);
  },
});

const probes: readonly Probe[] = [
  before("backfill.list_due"),
  before("backfill.lock_job"),
  before("backfill.lock_running"),
  before("job_transaction.read_jobs"),
  before("backfill.definition_at"),
  before("backfill.ran"),
  before("job_transaction.insert_runs"),
  before("job_transaction.save_due_states"),
  before("backfill.step"),
  before(commit, "the commit"),
  {
    moment: "while the step waits for its shard",
    isDone: false,
    async breakIt(node) {
      await h.db.transaction(async (tx) => {
        await tx.query({ text: "select 1 from carillon.shard for update" });
        const failed = failing(node);
        await untilLockWaits(h);
        await h.select(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        await failed;
      });
    },
  },
  {
    moment: "after the commit, before its answer",
    isDone: true,
    async breakIt(node) {
      frail.proxy.loseAnswerTo(commit);
      await failing(node);
    },
  },
];

/** The server notices a broken connection a moment later and holds the locks of its transaction until then. */
async function untilNoTransactionIsOpen(): Promise<void> {
  const text =
    "select 1 from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()";
  while ((await h.db.query({ text })).rowCount > 0);
}

const named = probes.map((probe) => [probe.moment, probe] as const);

describe("backfills and lost connections", () => {
  it.each(named)(
    "every instant gets one run although the connection is lost %s, and the same node continues [INV-1]",
    async (_moment, { breakIt, isDone }) => {
      const job = await h.settledJob(allowing);
      const { id } = await h.start(job, 4, { perSecond: 20 });
      const node = frailNode();
      await breakIt(node);
      expect(await h.places(job)).toEqual(isDone ? [3, 2] : []);
      await frail.database.waitUntilUp();
      await h.drain(node);
      expect(await h.places(job)).toEqual([3, 2, 1, 0]);
      expect(await h.get(id)).toMatchObject({ state: "done", made: 4, passed: 0 });
    },
  );

  it.each(named)(
    "every instant gets one run although the connection is lost %s, and another node takes over [INV-1] [INV-2]",
    async (_moment, { breakIt, isDone }) => {
      const job = await h.settledJob(allowing);
      const { id } = await h.start(job, 4, { perSecond: 20 });
      const node = frailNode();
      await breakIt(node);
      await untilNoTransactionIsOpen();
      const other = h.makeNode(await h.takeAll(newId()));
      await h.drain(other);
      expect(await h.places(job)).toEqual([3, 2, 1, 0]);
      await frail.database.waitUntilUp();
      await h.drain(node);
      expect(await h.runs(job)).toHaveLength(4);
      expect(await h.get(id)).toMatchObject({ state: "done", made: 4, passed: 0 });
      expect(node.events.filter((event) => event.type === "backfill.advanced")).toEqual([]);
      const made = other.events.map((event) => (event.type === "backfill.advanced" ? event.made : 0));
      expect(made.reduce((sum, count) => sum + count, 0)).toBe(isDone ? 2 : 4);
    },
  );
});

describe("two nodes with the same backfill", () => {
  it("the steps of a node that lost the shard change nothing [INV-2]", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 3);
    const heir = h.makeNode(await h.takeAll(newId()));
    await h.drain(h.node);
    expect(await h.get(id)).toMatchObject({ made: 0, through: null });
    await h.drain(heir);
    expect(await h.get(id)).toMatchObject({ state: "done", made: 3 });
  });

  it("two nodes that both believe they own the shard create each run once [INV-1]", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 60, { perSecond: 1_000, concurrency: 60 });
    const nodes = [h.node, h.makeNode(h.fence), h.makeNode(h.fence)];
    while ((await h.get(id)).state === "running") {
      await Promise.all(nodes.map((node) => node.runner.tick()));
      h.time.now += 1_000;
    }
    expect(await h.places(job)).toEqual(Array.from({ length: 60 }, (_, index) => 59 - index));
    expect(await h.get(id)).toMatchObject({ made: 60, passed: 0 });
  });

  it("a shard moves before or after a step, never during it [INV-2]", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 2);
    const shard = Number((await h.due(job))["shard"]);
    const takes = async (): Promise<boolean> => (await h.takeAll(newId())).shards.some((one) => one.id === shard);
    await h.store.historyTransaction(async (tx) => {
      expect(await h.store.backfills.lockJob(tx, h.fence, job)).toBe(true);
      expect(await takes()).toBe(false);
    });
    expect(await takes()).toBe(true);
    await h.drain(h.node);
    expect(await h.get(id)).toMatchObject({ made: 0 });
  });
});

describe("steps of a backfill", () => {
  it("a step of a backfill skips a job that another transaction holds, and does not wait for it", async () => {
    const job = await h.settledJob(allowing);
    const { id } = await h.start(job, 2);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.job_due where job_id = $1 for update" }, [job]);
      expect(await h.node.runner.tick()).toBe(0);
      expect(h.node.runner.idleMs).toBeLessThanOrEqual(100);
    });
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "done", made: 2 });
  });

  it("a step of a backfill does not delay other backfills when it fails", async () => {
    const [bad, good] = [await h.settledJob(allowing), await h.settledJob(allowing)];
    const broken = await h.start(bad, 2);
    const sound = await h.start(good, 2);
    await h.select(`alter table carillon.run add constraint refuse_one check (job_id <> '${bad}') not valid`);
    await expect(h.node.runner.tick()).rejects.toMatchObject({ constraint: "refuse_one" });
    expect(await h.get(sound.id)).toMatchObject({ state: "done", made: 2 });
    expect(await h.get(broken.id)).toMatchObject({ state: "running", made: 0, through: null });
  });

  it("a step of a backfill is followed by the next within the poll interval while a backfill runs, and by a scan every 5 s otherwise", async () => {
    await h.node.runner.tick();
    expect(h.node.runner.idleMs).toBe(5_000);
    const job = await h.settledJob(allowing);
    await h.start(job, 3, { concurrency: 1 });
    await h.node.runner.tick();
    expect(h.node.runner.idleMs).toBe(1);
    h.time.now += 1;
    await h.node.runner.tick();
    expect(h.node.runner.idleMs).toBe(100);
  });
});
