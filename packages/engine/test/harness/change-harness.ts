import type { EverySchedule, FiringPolicy, Instant, JobSpec } from "@carillon/core";
import type { Fence } from "@carillon/store";
import { Engine, type EngineEvent } from "../../src/index.js";
import { UpstreamEnds } from "../../src/dependencies/upstream-ends.js";
import { PauseExpiry } from "../../src/jobs/change/job-pauser.js";
import { type OccurrenceOutcome, fireOccurrences } from "../../src/jobs/transaction/fire-occurrences.js";
import { DueRules } from "../../src/schedules/due-rules.js";
import { ScheduleCache } from "../../src/schedules/schedule-cache.js";
import { type StoreHarness, hostPorts, newId, storeHarness } from "./store-harness.js";
import { testContext } from "./test-context.js";

/** Long enough that nothing becomes due in the middle of a test. */
export const period = 3_600_000;
export const actor = { actor: "me" };

export type Row = Record<string, unknown>;

/** An engine whose loops do not run: due occurrences stay due until a test fires them. */
export interface ChangeHarness extends StoreHarness {
  readonly engine: Engine;
  readonly fence: Fence;
  /** The latest occurrence of every recurring job, a moment ago. */
  readonly last: Instant;
  /** Creates a job whose next occurrence has been due for so many periods and a moment. */
  recurring(over?: Partial<JobSpec>, ago?: number): Promise<string>;
  /** Fires the job's next occurrence as the scheduler would; null when it was refused. */
  fire(jobId: string, over?: Partial<WheelEntry>): Promise<OccurrenceOutcome | null>;
  /** Ends pauses as the scheduler would. */
  expirePauses: PauseExpiry["resume"];
  due(jobId: string): Promise<Row>;
  runs(jobId: string): Promise<Row[]>;
  history(jobId: string): Promise<Row[]>;
  ledger(jobId: string): Promise<Row[]>;
  select(text: string, ...values: unknown[]): Promise<Row[]>;
}

/** A job as the scheduler's wheel holds it. */
export interface WheelEntry {
  readonly version: number;
  readonly nominal: Instant;
  readonly runsMade: number;
}

export async function changeHarness(
  onEvent: (event: EngineEvent) => void = () => undefined,
  changeLockTimeoutMs = 300,
): Promise<ChangeHarness> {
  const h = await storeHarness();
  const node = { name: "test", address: null, version: "0" };
  const limits = { changeLockTimeoutMs };
  const engine = new Engine({ database: h.db, ...hostPorts, newId, node, alone: true, onEvent, limits });
  const fence = await h.takeAll(newId());
  const last = Math.floor(h.db.clock.now()) - 1_000;
  const context = testContext({ database: h.db });
  const expiry = new PauseExpiry(context, {
    unitOfWork: h.store.unitOfWork,
    rules: new DueRules({ schedules: new ScheduleCache(100, false), store: h.store.fires }),
    upstreamEnds: new UpstreamEnds(context),
  });
  const select = async (text: string, ...values: unknown[]): Promise<Row[]> =>
    (await h.db.query({ text }, values)).rows;
  const due = async (id: string): Promise<Row> =>
    (await select("select * from carillon.job_due where job_id = $1", id))[0] ?? {};
  return {
    ...h,
    engine,
    fence,
    last,
    select,
    due,
    expirePauses: (...args) => expiry.resume(...args),
    async recurring(over = {}, ago = 0) {
      const { id } = await engine.jobs.create("default", spec({ schedule: every(last), ...over }));
      await setDue(h, id, last - ago * period);
      return id;
    },
    async fire(jobId, over = {}) {
      const row = await due(jobId);
      const nominal = over.nominal ?? Number(row["next_nominal_at"]);
      const next = { nominal: nominal + period, fireAt: nominal + period };
      const entry = { version: Number(row["version"]), nominal, runsMade: Number(row["runs_made"]), ...over };
      const request = { fence, windows: null, rows: [{ jobId, ...entry, next }] };
      const { outcomes } = await h.store.historyTransaction((tx) => fireOccurrences(h.store.unitOfWork, tx, request));
      return outcomes[0] ?? null;
    },
    runs: (id) => select("select * from carillon.run where job_id = $1 order by nominal_at, id", id),
    history: (id) => select("select * from carillon.run_history where job_id = $1 order by nominal_at, id", id),
    ledger: (id) =>
      select(
        "select version, reason, from_at, to_at, count from carillon.occurrence where job_id = $1 order by from_at, reason",
        id,
      ),
  };
}

export function every(last: Instant, everyMs = period): EverySchedule {
  return { kind: "every", everyMs, anchor: last - 1_000 * period };
}

/** As if no scheduler had run since then. */
export async function setDue(h: StoreHarness, jobId: string, at: Instant): Promise<void> {
  const text = "update carillon.job_due set next_nominal_at = $2, next_fire_at = $2 where job_id = $1";
  await h.db.query({ text }, [jobId, new Date(at).toISOString()]);
}

export function spec(over: Partial<JobSpec> = {}): JobSpec {
  return {
    task: "echo",
    queue: "default",
    priority: 4,
    payload: { n: 1 },
    schedule: { kind: "manual" },
    policy: {},
    labels: {},
    ...over,
  };
}

export const overlapping = (overlap: FiringPolicy["overlap"]): Partial<JobSpec> => ({ firing: { overlap } });

/** Marks the runs of a job as claimed by a worker. */
export async function startRuns(h: StoreHarness, jobId: string): Promise<void> {
  const text = `update carillon.run set state = 'running', session_id = gen_random_uuid(), fence = fence + 1
                where job_id = $1 and state = 'queued'`;
  await h.db.query({ text }, [jobId]);
}
