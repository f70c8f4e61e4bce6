import type { AfterSchedule, JobSpec } from "@carillon/core";
import { AfterRunner } from "../../src/dependencies/dependency-runner.js";
import { Conditions } from "../../src/dependencies/conditions.js";
import { Follower } from "../../src/dependencies/follower.js";
import type { Database } from "../../src/index.js";
import { createEngineStore } from "./engine-store.js";
import type { FinishedRun } from "@carillon/store";
import { actor, type ChangeHarness, changeHarness, type Row, spec, startRuns } from "./change-harness.js";

export interface AfterHarness extends ChangeHarness {
  /** A job that only runs when asked. */
  upstream(over?: Partial<JobSpec>): Promise<string>;
  /** A job that waits. Without a mode that of the schedule's default. */
  waiting(after: AfterSchedule["after"], over?: Partial<JobSpec>, mode?: AfterSchedule["mode"]): Promise<string>;
  /** Makes and starts a run of a job; answers its id. */
  begin(jobId: string): Promise<string>;
  /** Ends a running run as a worker would. */
  end(runId: string, over?: Partial<FinishedRun>): Promise<void>;
  /** Both at once. */
  runOnce(jobId: string, over?: Partial<FinishedRun>): Promise<string>;
  /** What a node does: tells everybody, until there is nothing to tell. */
  tell(): Promise<void>;
  /** As another node would. */
  newRunner(database?: Database): AfterRunner;
  /** The runs that another job's end started, live and ended. */
  started(jobId: string): Promise<Row[]>;
}

export async function afterHarness(): Promise<AfterHarness> {
  const h = await changeHarness();
  let instant = 0;
  const newRunner = (db: Database = h.db): AfterRunner => {
    const { dependencies, settle, settler } = db === h.db ? h.store : createEngineStore(db);
    return new AfterRunner({
      db,
      dependencies,
      settle,
      settler,
      follower: new Follower(dependencies, new Conditions()),
      // Every pass is a sweep.
      clock: { monotonic: () => (instant += 1_000) },
      shards: () => Array.from({ length: 1_024 }, (_, shard) => shard),
      onSettled: () => undefined,
    });
  };
  const runner = newRunner();
  const begin = async (jobId: string): Promise<string> => {
    const { id } = await h.api.runNow("default", { id: jobId }, {}, actor);
    await startRuns(h, jobId);
    return id;
  };
  const end = async (runId: string, over: Partial<FinishedRun> = {}): Promise<void> => {
    const [row] = await h.select("select session_id, fence from carillon.run where id = $1", runId);
    const ended: FinishedRun = {
      session: String(row?.["session_id"]),
      id: runId,
      fence: Number(row?.["fence"]),
      status: "succeeded",
      reason: null,
      output: "null",
      error: null,
      startedAt: h.db.clock.now(),
      ...over,
    };
    if (ended.status === "succeeded") await h.store.claims.completeAndClaim({ succeeded: [ended], demand: null });
    else await h.store.claims.finish([ended]);
  };
  return {
    ...h,
    newRunner,
    begin,
    end,
    upstream: async (over = {}) =>
      (await h.api.createJob("default", spec({ firing: { overlap: "allow" }, ...over }))).id,
    waiting: async (after, over = {}, mode) => {
      const schedule: AfterSchedule = { kind: "after", after, ...(mode !== undefined && { mode }) };
      return (await h.api.createJob("default", spec({ firing: { overlap: "allow" }, ...over, schedule }))).id;
    },
    async runOnce(jobId, over) {
      const id = await begin(jobId);
      await end(id, over);
      return id;
    },
    async tell() {
      while ((await runner.tick()) > 0);
    },
    started: (jobId) =>
      h.select(
        `select id, trigger, state from carillon.run where job_id = $1 and trigger like 'after:%'
         union all
         select id, trigger, status from carillon.run_history where job_id = $1 and trigger like 'after:%'
         order by trigger`,
        jobId,
      ),
  };
}
