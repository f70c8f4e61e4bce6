import type { OverlapPolicy, ScheduleSpec } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEngineStore } from "../../harness/engine-store.js";
import {
  hourMs,
  type SchedulerHarness,
  schedulerHarness,
  type SchedulerNode,
} from "../../harness/scheduler-harness.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";
import { untilLockWaits } from "../../harness/store-harness.js";
import type { DueJob } from "@carillon/store";

/** A statement that was not sent, or one whose outcome is unknown. */
const away = expect.stringMatching(/^(database_unavailable|outcome_unknown)$/) as string;

let h: SchedulerHarness;
let frail: FrailDatabase;

beforeEach(async () => {
  h = await schedulerHarness();
  frail = await frailDatabase(h.url);
});
afterEach(async () => {
  await frail.close();
  await h.close();
});

/** A node whose every statement goes through the frail.proxy. */
const frailNode = (): Promise<SchedulerNode> => h.node({ around: () => createEngineStore(frail.database).fires });

async function dueJob(overlap: OverlapPolicy): Promise<DueJob> {
  const at = Math.floor(h.db.clock.now()) - 1_000;
  const schedule: ScheduleSpec = { kind: "every", everyMs: 365 * 24 * hourMs, anchor: at };
  return h.job({ schedule, firing: { overlap }, overlap, nextNominal: at, nextFireAt: at });
}

/** A moment of a fire, and how the node's way to the database is lost there. */
interface Probe {
  readonly moment: string;
  readonly overlap: OverlapPolicy;
  /** Whether the occurrence is settled although the node cannot know. */
  readonly isDone: boolean;
  breakIt(job: DueJob, tick: () => Promise<unknown>): Promise<void>;
}

async function failing(tick: () => Promise<unknown>): Promise<void> {
  await expect(tick()).rejects.toMatchObject({ code: away });
}

/** Lets the fire wait for its shard, inside the statement, and ends its session there. */
async function endWhileItRuns(job: DueJob, tick: () => Promise<unknown>): Promise<void> {
  await h.db.transaction(async (tx) => {
    await tx.query({ text: "select 1 from carillon.shard where id = $1 for update" }, [job.shard]);
    const failed = failing(tick);
    await untilLockWaits(h);
    await h.select(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    await failed;
  });
}

/** The whole text of the statement: a transaction begins as "read committed". */
const commit = "commit\0";

const probes: Probe[] = [
  {
    moment: "before the fire is sent",
    overlap: "skip",
    isDone: false,
    async breakIt(_job, tick) {
      frail.breakBefore("due.fire");
      await failing(tick);
    },
  },
  { moment: "while the fire runs", overlap: "skip", isDone: false, breakIt: endWhileItRuns },
  {
    moment: "after the fire's commit, before its answer",
    overlap: "skip",
    isDone: true,
    async breakIt(_job, tick) {
      frail.proxy.loseAnswerTo("due.fire");
      await failing(tick);
    },
  },
  {
    moment: "before the job transaction is sent",
    overlap: "queue_one",
    isDone: false,
    async breakIt(_job, tick) {
      frail.breakBefore("job_transaction.lock_due");
      await failing(tick);
    },
  },
  {
    moment: "while the job transaction waits for its rows",
    overlap: "queue_one",
    isDone: false,
    breakIt: endWhileItRuns,
  },
  {
    moment: "before the job transaction's commit",
    overlap: "queue_one",
    isDone: false,
    async breakIt(_job, tick) {
      frail.breakBefore(commit);
      await failing(tick);
    },
  },
  {
    moment: "after the job transaction's commit, before its answer",
    overlap: "queue_one",
    isDone: true,
    async breakIt(_job, tick) {
      frail.proxy.loseAnswerTo(commit);
      await failing(tick);
    },
  },
];

const named = probes.map((probe) => [probe.moment, probe] as const);

describe("a lost connection fires an occurrence once", () => {
  it.each(named)(
    "an occurrence is fired once although the connection is lost %s, and the same node continues [INV-1] [INV-11]",
    async (_moment, { overlap, breakIt, isDone }) => {
      const node = await frailNode();
      await node.settle();
      const job = await dueJob(overlap);
      node.scheduler.jobDue(job);
      await breakIt(job, () => node.scheduler.tick());
      expect(await h.fired(job.jobId)).toEqual(isDone ? [job.nominal] : []);
      await frail.database.waitUntilUp();
      await node.settle();
      expect(await h.fired(job.jobId)).toEqual([job.nominal]);
      expect(await h.ledger(job.jobId)).toEqual([]);
    },
  );

  it.each(named)(
    "an occurrence is fired once although the connection is lost %s, and another node takes over [INV-1] [INV-11]",
    async (_moment, { overlap, breakIt, isDone }) => {
      const node = await frailNode();
      await node.settle();
      const job = await dueJob(overlap);
      node.scheduler.jobDue(job);
      await breakIt(job, () => node.scheduler.tick());
      expect(await h.fired(job.jobId)).toEqual(isDone ? [job.nominal] : []);
      await (await h.node()).settle();
      expect(await h.fired(job.jobId)).toEqual([job.nominal]);
      await frail.database.waitUntilUp();
      node.scheduler.jobDue(job);
      await node.scheduler.tick();
      expect(await h.fired(job.jobId)).toEqual([job.nominal]);
      expect(await h.ledger(job.jobId)).toEqual([]);
    },
  );
});
