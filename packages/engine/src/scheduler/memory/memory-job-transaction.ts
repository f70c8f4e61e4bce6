import type { FinalRunStatus, Instant } from "@carillon/core";
import type { JobChangeStore, JobTransactionReads, JobTransactionWrites, NewJobRun, Queued } from "@carillon/store";
import type { FireStore } from "../../schedules/fire-store.js";
import { type MemoryJob, type MemoryRun, type MemoryTables, refusePoisoned } from "./memory-tables.js";

/** The reads of a job transaction. The tables run one transaction at a time, so a lock only checks whether another transaction holds the row. */
export function memoryJobTransactionReads(tables: MemoryTables): JobTransactionReads {
  const free = (jobIds: readonly string[]): string[] =>
    jobIds.filter((id) => tables.jobs.has(id) && !tables.locked.has(id)).toSorted();
  return {
    setLockTimeout: async () => undefined,
    async lock(_tx, jobIds) {
      const held = jobIds.find((id) => tables.locked.has(id));
      if (held !== undefined) throw Object.assign(new Error(`job ${held} is held by somebody`), { code: "55P03" });
      return free(jobIds);
    },
    lockFree: async (_tx, jobIds) => free(jobIds),
    async admissible(_db, shards, limit) {
      const asked = new Set(shards);
      const waiting = [...tables.runs.values()].filter((run) => asked.has(run.shard) && waitsForOthers(run));
      const jobs = new Set(waiting.map((run) => run.jobId ?? ""));
      return [...jobs].filter((id) => isAdmissible(tables, id)).slice(0, limit);
    },
    async lockDue(_tx, fence, due, windows) {
      const fenced = tables.fenced(fence);
      const terms = { windows: windows ?? tables.windows.revision };
      const picked = due.filter((one) => tables.pick(fenced, terms, one)?.due.runsMade === one.runsMade);
      return picked.map((one) => one.jobId).toSorted();
    },
    async lockExpired(_tx, fence, paused) {
      const fenced = tables.fenced(fence);
      const over = paused.filter(({ jobId, version }) => {
        const job = tables.jobs.get(jobId);
        if (job === undefined || !fenced.has(job.shard) || tables.locked.has(jobId)) return false;
        const { state, version: present, fireAt } = job.due;
        return state === "paused" && present === version && fireAt !== null && fireAt <= tables.now();
      });
      return over.map((one) => one.jobId).toSorted();
    },
    async read(_tx, jobIds, wants) {
      const { revision: windows } = tables.windows;
      return jobIds.toSorted().flatMap((id) => {
        const job = tables.jobs.get(id);
        const payload = wants.payload ? job?.payload : null;
        return job === undefined ? [] : [{ ...job, payload, windows, now: tables.now() }];
      });
    },
    async live(_tx, jobIds, { hold }) {
      return jobIds
        .flatMap((jobId) => knownLive(tables, jobId))
        .toSorted((a, b) => (hold ? 0 : a.nominal - b.nominal) || (a.id < b.id ? -1 : 1))
        .map(({ jobId, id, state: status }) => ({ jobId: jobId ?? "", id, status }));
    },
    async holdUntracked(_tx, jobId, limit) {
      const waiting = [...tables.liveOf(jobId)].filter((run) => run.untracked && run.state !== "running");
      return waiting.length < limit ? [] : waiting.slice(0, limit).map((run) => run.id);
    },
  };
}

/** Live runs on the job's list, and those of which it keeps none. */
function knownLive(tables: MemoryTables, jobId: string): MemoryRun[] {
  const listed = new Set(tables.jobs.get(jobId)?.due.runIds);
  return [...tables.liveOf(jobId)].filter((run) => run.untracked || listed.has(run.id));
}

function waitsForOthers({ state, stateReason }: MemoryRun): boolean {
  return state === "blocked" && stateReason === "overlap";
}

function isAdmissible(tables: MemoryTables, jobId: string): boolean {
  const job = tables.jobs.get(jobId);
  return job !== undefined && job.due.runIds.every((id) => (tables.runs.get(id)?.state ?? "blocked") === "blocked");
}

export function memoryJobTransactionWrites(tables: MemoryTables): JobTransactionWrites {
  return {
    async insertRuns(_tx, runs) {
      for (const { jobId } of runs) refusePoisoned(tables, jobId);
      return runs.flatMap((wanted) => {
        const job = tables.jobs.get(wanted.jobId);
        const made = job === undefined ? null : insertRun(tables, job, wanted);
        if (made === null) return [];
        const { id, lane, rank, runAt, createdAt } = made;
        return [{ id, jobId: wanted.jobId, state: wanted.state, lane, rank, runAt, createdAt }];
      });
    },
    async endRuns(_tx, runs) {
      return runs.flatMap(({ id, reason }) => {
        const run = tables.runs.get(id);
        if (run === undefined || run.state === "running") return [];
        endRun(tables, run, "cancelled", reason);
        const { jobId, namespaceId, task, queue } = run;
        return [{ id, jobId, namespaceId, task, queue }];
      });
    },
    async stopRuns(_tx, runs) {
      return runs.flatMap(({ id, reason }) => {
        const run = tables.runs.get(id);
        if (run?.state !== "running") return [];
        tables.runs.set(id, { ...run, cancelReason: run.cancelReason ?? reason });
        return [{ id, sessionId: run.sessionId ?? "" }];
      });
    },
    async untrackRuns(_tx, ids) {
      return ids.flatMap((id) => {
        const run = tables.runs.get(id);
        if (run === undefined) return [];
        const isFree = waitsForOthers(run);
        tables.runs.set(id, { ...run, untracked: true, ...(isFree && { state: "queued", stateReason: null }) });
        return isFree ? [toQueued(run)] : [];
      });
    },
    async move(_tx, moves) {
      for (const { jobId, expectedVersion, due } of moves) {
        const job = tables.jobs.get(jobId);
        if (job?.due.version !== expectedVersion) throw new Error(`job ${jobId} is not as it was when it was locked`);
        tables.jobs.set(jobId, { ...job, due });
      }
    },
    async note(_tx, entries) {
      for (const entry of entries) tables.note(entry, "compared");
    },
    async admitRuns(_tx, ids) {
      return ids.flatMap((id) => {
        const run = tables.runs.get(id);
        if (run === undefined || !waitsForOthers(run)) return [];
        tables.runs.set(id, { ...run, state: "queued", stateReason: null });
        return [toQueued(run)];
      });
    },
  };
}

/** The writes of a change of a job that is stored; definitions that were replaced are not kept. */
export function memoryChanges(tables: MemoryTables): Pick<JobChangeStore, "touch" | "keepVersion" | "redefine"> {
  return {
    async touch(_tx, jobs) {
      for (const { id, pause, endedAt } of jobs) {
        tables.jobs.set(id, { ...known(tables, id), pause, endedAt, updatedAt: tables.now() });
      }
    },
    keepVersion: async () => undefined,
    async redefine(_tx, { id, lane, spec, definedAt }) {
      const { task, queue, priority, payload, schedule, policy, labels, firing = {}, owner = null } = spec;
      const definition = { lane, task, queue, priority, payload, schedule, policy, labels, firing, owner };
      tables.jobs.set(id, { ...known(tables, id), ...definition, definedAt });
    },
  };
}

function known(tables: MemoryTables, id: string): MemoryJob {
  const job = tables.jobs.get(id);
  if (job === undefined) throw new Error(`there is no job ${id}`);
  return job;
}

type WantedRun = Pick<NewJobRun, "id" | "state" | "rank" | "runAt" | "nominal" | "trigger" | "untracked"> &
  Partial<Pick<NewJobRun, "serial" | "overrides">>;

/** Makes a run of a job; what the run does not say is taken from the job. Null: there is one with this id. */
export function insertRun(tables: MemoryTables, job: MemoryJob, wanted: WantedRun): MemoryRun | null {
  const { id, state, rank, runAt, nominal, trigger, serial = false, untracked, overrides = {} } = wanted;
  if (tables.runs.has(id)) return null;
  const run: MemoryRun = {
    id,
    jobId: job.id,
    namespaceId: job.namespaceId,
    shard: job.shard,
    lane: overrides.lane ?? job.lane,
    state,
    stateReason: state === "blocked" ? "overlap" : null,
    priority: overrides.priority ?? job.priority,
    rank,
    runAt,
    nominal,
    createdAt: tables.now(),
    trigger,
    task: job.task,
    queue: overrides.queue ?? job.queue,
    payload: overrides.payload === undefined ? job.payload : overrides.payload.value,
    policy: overrides.policy ?? job.policy,
    labels: overrides.labels ?? job.labels,
    owner: job.owner,
    version: job.due.version,
    serial,
    untracked,
    cancelReason: null,
    sessionId: null,
  };
  tables.runs.set(id, run);
  return run;
}

/** Moves a run to history. One that was there before stays too: no key keeps a second one out. */
export function endRun(tables: MemoryTables, run: MemoryRun, status: FinalRunStatus, reason: string | null): void {
  tables.runs.set(run.id, undefined);
  const key = tables.history.has(run.id) ? `${run.id} ${tables.history.size}` : run.id;
  tables.history.set(key, { run, status, reason, finishedAt: tables.now() });
}

function toQueued({ id, lane, rank }: MemoryRun): Queued {
  return { id, lane, rank };
}

/** Delayed and retrying runs, whose time the wheel waits for too. */
export function memoryDelayed(tables: MemoryTables): Pick<FireStore, "loadRuns" | "promote"> {
  return {
    loadRuns: (shards, until, limitPerShard) =>
      tables.statement(() =>
        shards.flatMap((shard) => {
          const due = [...tables.delayedOf(shard)].filter((run) => run.runAt < until);
          return nearest(due, (run) => run.runAt, limitPerShard).map(({ id, runAt }) => ({ id, shard, runAt }));
        }),
      ),
    // Nothing is queued ahead: whoever asks for it asks again in time.
    promote: (fence, ids) =>
      tables.statement(() => {
        const fenced = tables.fenced(fence);
        return ids.flatMap((id) => {
          const run = tables.runs.get(id);
          if (run === undefined || !fenced.has(run.shard) || tables.locked.has(id)) return [];
          if ((run.state !== "scheduled" && run.state !== "retrying") || run.runAt > tables.now()) return [];
          tables.runs.set(id, { ...run, state: "queued" });
          return [{ ...toQueued(run), runAt: run.runAt }];
        });
      }),
  };
}

/** The first of some rows by their time, as `order by … limit` answers them. */
export function nearest<Row>(rows: readonly Row[], timeOf: (row: Row) => Instant, limit: number): Row[] {
  return rows.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(0, limit);
}
