import type { Instant, MaintenanceWindow } from "@carillon/core";
import type { NewJob, Queryable } from "@carillon/store";
import type {
  EndedRunView,
  FireStoreUnderTest,
  JobWish,
  LiveRunView,
  RangeView,
} from "../conformance/fire-store/under-test.js";
import { MemoryCluster } from "../../src/cluster/memory/memory-cluster.js";
import type { JobUnitOfWork } from "../../src/jobs/transaction/job-unit-of-work.js";
import { memoryFireStore, memoryUnitOfWork } from "../../src/scheduler/memory/memory-fire-store.js";
import { endRun } from "../../src/scheduler/memory/memory-job-transaction.js";
import { type MemoryRun, MemoryTables, insertJob } from "../../src/scheduler/memory/memory-tables.js";
import { newId, newJob, newRun, storeHarness, toDueJob } from "./store-harness.js";

const minute = 60_000;

/** The job of a wish; it recurs each minute. */
function wished(now: Instant, wish: JobWish): NewJob {
  const { dueAt = Math.floor(now / minute) * minute - 20 * minute, overlap = "skip", maxRuns = null, ...rest } = wish;
  return newJob(1, { nextNominal: dueAt, nextFireAt: dueAt, overlap, firing: { overlap }, maxRuns, ...rest });
}

/** The row of job_due, over either store. */
function dueRows(unitOfWork: JobUnitOfWork, db: Queryable): Pick<FireStoreUnderTest, "due" | "setDue"> {
  const due: FireStoreUnderTest["due"] = async (jobId) => {
    const [job] = await unitOfWork.reads.read(db, [jobId], { payload: false });
    if (job === undefined) throw new Error(`there is no job ${jobId}`);
    return job.due;
  };
  return {
    due,
    async setDue(jobId, change) {
      const now = await due(jobId);
      await unitOfWork.writes.move(db, [{ jobId, expectedVersion: now.version, due: { ...now, ...change } }]);
    },
  };
}

export async function memoryFireStoreUnderTest(): Promise<FireStoreUnderTest> {
  let now = Date.UTC(2026, 5, 1, 12);
  const cluster = new MemoryCluster(1_024);
  const tables = new MemoryTables({ now: () => (now += 1), owns: (node, shard) => cluster.owns(node, shard) });
  const noSql: Queryable = { query: () => Promise.reject(new Error("there is no SQL here")) };
  const runOf = (id: string): MemoryRun => {
    const run = tables.runs.get(id);
    if (run === undefined) throw new Error(`there is no live run ${id}`);
    return run;
  };
  return {
    ...dueRows(memoryUnitOfWork(tables), noSql),
    store: memoryFireStore(tables),
    now: () => now,
    async takeAll() {
      const node = newId();
      return { node, shards: await cluster.shards.take(node, await cluster.shards.list()) };
    },
    async job(wish = {}) {
      const job = wished(now, wish);
      insertJob(tables, job);
      return toDueJob(job);
    },
    runs: async (jobId) => [...tables.liveOf(jobId)].toSorted((a, b) => a.nominal - b.nominal).map(liveView),
    ended: async (jobId) =>
      [...tables.history.values()]
        .filter(({ run }) => run.jobId === jobId)
        .map(({ run: { id }, status, reason }) => ({ id, status, reason })),
    ledger: async (jobId) =>
      [...tables.ledger.values()]
        .filter((range) => range.jobId === jobId)
        .toSorted((a, b) => a.from - b.from)
        .map(
          ({ version, reason, from, to, count, detail }) => ({ version, reason, from, to, count, detail }) as RangeView,
        ),
    async delayedRun(runAt) {
      const run = newRun(1, { runAt });
      const state = {
        state: "scheduled",
        stateReason: null,
        createdAt: now,
        sessionId: null,
        cancelReason: null,
      } as const;
      tables.runs.set(run.id, { ...run, ...state, version: null, serial: false, untracked: false });
      return { id: run.id, shard: run.shard, runAt };
    },
    startRun: async (id) => tables.runs.set(id, { ...runOf(id), state: "running", sessionId: newId() }),
    finishRun: async (id) => endRun(tables, runOf(id), "succeeded", null),
    async holding(ids, work) {
      for (const id of ids) tables.locked.add(id);
      try {
        return await work();
      } finally {
        for (const id of ids) tables.locked.delete(id);
      }
    },
    async setWindows(windows) {
      const revision = tables.windows.revision + 1;
      const byNamespace = new Map(windows.length === 0 ? [] : [[1, { namespace: "default", windows }]]);
      tables.windows = { revision, byNamespace };
      return revision;
    },
    close: async () => undefined,
  };
}

function liveView(run: MemoryRun): LiveRunView {
  const { id, state, nominal, runAt, task, payload, version, serial, untracked, cancelReason } = run;
  return { id, state, nominal, runAt, task, payload, version, serial, untracked, cancelReason };
}

export async function postgresFireStoreUnderTest(): Promise<FireStoreUnderTest> {
  const h = await storeHarness();
  const select = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await h.db.query<Row>({ text }, values)).rows;
  return {
    ...dueRows(h.store.unitOfWork, h.db),
    store: h.store.fires,
    now: () => Math.floor(h.db.clock.now()),
    takeAll: () => h.takeAll(newId()),
    async job(wish = {}) {
      const { lane: _, id, ...job } = wished(h.db.clock.now(), wish);
      return h.job({ ...job, id });
    },
    runs: (jobId) =>
      select<LiveRunView>(
        `select id, state, nominal_at as nominal, run_at as "runAt", task, payload, version, serial, untracked,
                cancel_reason as "cancelReason"
         from carillon.run where job_id = $1 order by nominal_at`,
        jobId,
      ),
    ended: (jobId) =>
      select<EndedRunView>(
        "select id, status, status_reason as reason from carillon.run_history where job_id = $1 order by nominal_at",
        jobId,
      ),
    ledger: (jobId) =>
      select<RangeView>(
        `select version, reason, from_at as "from", to_at as "to", count, detail
         from carillon.occurrence where job_id = $1 order by from_at`,
        jobId,
      ),
    async delayedRun(runAt) {
      const id = newId();
      await h.run({ id, runAt, nominal: runAt });
      const text = "update carillon.run set state = 'scheduled' where id = $1 returning shard";
      const [row] = await select<{ shard: number }>(text, id);
      return { id, shard: row?.shard ?? -1, runAt };
    },
    async startRun(id) {
      await select("update carillon.run set state = 'running', session_id = gen_random_uuid() where id = $1", id);
    },
    async finishRun(id) {
      await select("delete from carillon.run where id = $1", id);
    },
    holding: (ids, work) =>
      h.db.transaction(async (tx) => {
        await tx.query({ text: "select 1 from carillon.job_due where job_id = any ($1::uuid[]) for update" }, [ids]);
        await tx.query({ text: "select 1 from carillon.run where id = any ($1::uuid[]) for update" }, [ids]);
        return work();
      }),
    async setWindows(windows) {
      await select("delete from carillon.maintenance_window");
      for (const { name, ...definition } of windows) await putWindow(select, name, definition);
      const text = "update carillon.revision set value = value + 1 where name = 'windows' returning value";
      const [row] = await select<{ value: number }>(text);
      return row?.value ?? -1;
    },
    close: () => h.close(),
  };
}

function putWindow(
  select: (text: string, ...values: unknown[]) => Promise<object[]>,
  name: string,
  definition: Omit<MaintenanceWindow, "name">,
): Promise<object[]> {
  const text = `insert into carillon.maintenance_window (namespace_id, name, definition, created_at, updated_at)
                values (1, $1, $2, now(), now())`;
  return select(text, name, JSON.stringify(definition));
}
