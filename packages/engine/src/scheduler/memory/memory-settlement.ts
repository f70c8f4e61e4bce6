import type { JobTransactionReads, JobTransactionWrites, LedgerEntry } from "@carillon/store";
import { refusePoisoned } from "./memory-fire.js";
import { endRun, insertRun, toQueued } from "./memory-runs.js";
import type { MemoryRun } from "./memory-rows.js";
import type { MemoryTables } from "./memory-tables.js";

/** The reads of a settlement. The tables run one transaction at a time, so that a lock is a look at who else holds the row. */
export function memorySettlementReads(tables: MemoryTables): JobTransactionReads {
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
    async ahead(_tx, jobs) {
      const after = new Map(jobs.map((one) => [one.jobId, one.after]));
      const isAhead = ({ jobId, reason, to }: LedgerEntry): boolean =>
        reason === "calendar" && to > (after.get(jobId) ?? Infinity);
      return [...tables.ledger.values()].filter(isAhead);
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

export function memorySettlementWrites(tables: MemoryTables): JobTransactionWrites {
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
    async cut(_tx, cuts) {
      for (const cut of cuts) tables.cut(cut);
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
