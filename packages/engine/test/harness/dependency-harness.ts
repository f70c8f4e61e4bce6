import type { AfterSchedule, JobSpec } from "@carillon/core";
import { DependencyRunner } from "../../src/dependencies/dependency-runner.js";
import { UpstreamEnds } from "../../src/dependencies/upstream-ends.js";
import type { Database } from "../../src/index.js";
import { createEngineStore } from "./engine-store.js";
import { testContext } from "./test-context.js";
import type { FinishedRun } from "@carillon/store";
import { actor, type ChangeHarness, changeHarness, type Row, spec, startRuns } from "./change-harness.js";

export interface DependencyHarness extends ChangeHarness {
  /** Creates a job without a schedule. */
  upstream(over?: Partial<JobSpec>): Promise<string>;
  /** Creates a job that waits for others; without a mode it has the default one. */
  waiting(after: AfterSchedule["after"], over?: Partial<JobSpec>, mode?: AfterSchedule["mode"]): Promise<string>;
  /** Makes and starts a run of a job; returns its id. */
  begin(jobId: string): Promise<string>;
  /** Ends a running run as a worker would. */
  end(runId: string, over?: Partial<FinishedRun>): Promise<void>;
  /** Begins and ends a run. */
  runOnce(jobId: string, over?: Partial<FinishedRun>): Promise<string>;
  /** Processes upstream ends as a node does, until none is left. */
  processEnds(): Promise<void>;
  /** The runner of another node. */
  newRunner(database?: Database): DependencyRunner;
  /** The runs that another job's end started, live and ended. */
  started(jobId: string): Promise<Row[]>;
}

export async function dependencyHarness(): Promise<DependencyHarness> {
  const h = await changeHarness();
  let instant = 0;
  const newRunner = (db: Database = h.db): DependencyRunner => {
    const { unitOfWork } = db === h.db ? h.store : createEngineStore(db);
    // Every pass is a sweep.
    const clock = { now: Date.now, monotonic: () => (instant += 1_000) };
    const context = testContext({ database: db, clock });
    return new DependencyRunner(context, { unitOfWork, upstreamEnds: new UpstreamEnds(context) });
  };
  const runner = newRunner();
  const begin = async (jobId: string): Promise<string> => {
    const { id } = await h.engine.jobs.runNow("default", { id: jobId }, {}, actor);
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
      (await h.engine.jobs.create("default", spec({ firing: { overlap: "allow" }, ...over }))).id,
    waiting: async (after, over = {}, mode) => {
      const schedule: AfterSchedule = { kind: "after", after, ...(mode !== undefined && { mode }) };
      return (await h.engine.jobs.create("default", spec({ firing: { overlap: "allow" }, ...over, schedule }))).id;
    },
    async runOnce(jobId, over) {
      const id = await begin(jobId);
      await end(id, over);
      return id;
    },
    async processEnds() {
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
