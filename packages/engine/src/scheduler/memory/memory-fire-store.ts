import { firingPolicy } from "@carillon/core";
import type { DueJob, FireRow, Fired, LedgerRange, Queryable, Terms } from "@carillon/store";
import { JobUnitOfWork } from "../../jobs/transaction/job-unit-of-work.js";
import type { FireStore } from "../../schedules/fire-store.js";
import { settleRows } from "../settle-fires.js";
import {
  insertRun,
  memoryDelayed,
  memoryJobTransactionReads,
  memoryJobTransactionWrites,
  nearest,
} from "./memory-job-transaction.js";
import { type MemoryJob, type MemoryTables, refusePoisoned } from "./memory-tables.js";

/** The tables take no SQL; a job transaction only passes this on. */
const noSql: Queryable = { query: () => Promise.reject(new Error("there is no SQL in memory")) };

export function memoryUnitOfWork(tables: MemoryTables): JobUnitOfWork {
  return new JobUnitOfWork({
    reads: memoryJobTransactionReads(tables),
    writes: memoryJobTransactionWrites(tables),
    transaction: (work) => tables.transaction(() => work(noSql)),
  });
}

/** The twin in memory of the scheduler's port: the same comparisons and answers, on rows that live in this process. */
export function memoryFireStore(tables: MemoryTables): FireStore {
  return {
    ...memoryDue(tables),
    ...memoryDelayed(tables),
    fire: memoryFire(tables),
    settle: settleRows(memoryUnitOfWork(tables)),
    // Asked in the middle of transactions too, on another connection.
    windows: async () => tables.windows,
  };
}

type DueStore = Pick<FireStore, "load" | "pass" | "hold" | "release" | "quarantine">;

const nothing: ReadonlySet<number> = new Set();

/** The statements of due.sql that make no run. */
function memoryDue(tables: MemoryTables): DueStore {
  return {
    load: (shards, until, limitPerShard) =>
      tables.statement(() => {
        const rows = shards.flatMap((shard) => {
          if (tables.nextFireAt(shard) >= until) return [];
          const due = [...tables.jobsOf(shard)].filter(({ due: { fireAt } }) => fireAt !== null && fireAt < until);
          return [0, 1, 2].flatMap((urgency) => {
            const ofClass = due.filter((job) => job.due.class === urgency);
            return nearest(ofClass, (job) => job.due.fireAt ?? 0, limitPerShard);
          });
        });
        return rows.map(toDueJob);
      }),
    pass: (terms, rows) =>
      tables.statement(() => {
        const fenced = tables.isTimeFor(terms) ? tables.fenced(terms.fence) : nothing;
        return rows.flatMap((row) => {
          const job = tables.pick(fenced, terms, row.job);
          if (job === null) return [];
          const { range, next, catchUpTo } = row;
          const { ledgerReason, ledgerFrom } = job.due;
          const from = ledgerReason === range.reason && ledgerFrom !== null ? ledgerFrom : row.job.nominal;
          tables.move(job, {
            firedThrough: range.to,
            nominal: next?.nominal ?? null,
            fireAt: next?.fireAt ?? null,
            state: next === null ? "completed" : job.due.state,
            stateReason: null,
            ledgerReason: range.reason,
            ledgerFrom: from,
            catchUpTo: catchUpTo ?? job.due.catchUpTo,
          });
          note(tables, row.job, [{ ...range, from }, ...row.notes], "compared");
          return [job.id];
        });
      }),
    hold: (terms, rows) =>
      tables.statement(() => {
        const fenced = tables.isTimeFor(terms) ? tables.fenced(terms.fence) : nothing;
        return rows.flatMap(({ job: { jobId, version, nominal }, until }) => {
          const job = tables.pick(fenced, terms, { jobId, version, nominal });
          if (job === null) return [];
          tables.move(job, { fireAt: until, stateReason: `held ${terms.windows}` });
          return [job.id];
        });
      }),
    release: ({ fence, windows }) =>
      tables.statement(() => {
        return [...tables.fenced(fence)].filter((shard) => release(tables, shard, `held ${windows}`));
      }),
    quarantine: (fence, rows) =>
      tables.statement(() => {
        const fenced = tables.fenced(fence);
        return rows.flatMap(({ job: { jobId, version }, pause }) => {
          const job = tables.jobs.get(jobId);
          if (job === undefined || !fenced.has(job.shard) || tables.locked.has(jobId)) return [];
          if (job.due.state !== "active" || job.due.version !== version) return [];
          const since = Math.max(job.due.firedThrough ?? 0, job.definedAt ?? job.createdAt);
          const idle = {
            nominal: null,
            fireAt: null,
            stateReason: null,
            ledgerFrom: null,
            ledgerReason: null,
          } as const;
          const due = { ...job.due, ...idle, state: "paused" as const, version: version + 1 };
          tables.jobs.set(jobId, { ...job, due, pause: { after: since, ...pause }, updatedAt: tables.now() });
          return [jobId];
        });
      }),
  };
}

/** Adds ranges to the ledger of a job. */
function note(
  tables: MemoryTables,
  { jobId, version, definition: { namespaceId } }: DueJob,
  ranges: readonly LedgerRange[],
  detail: "kept" | "compared",
): void {
  for (const range of ranges) tables.note({ jobId, version, namespaceId, ...range }, detail);
}

function release(tables: MemoryTables, shard: number, present: string): boolean {
  const held = [...tables.jobsOf(shard)].filter(({ id, due: { state, stateReason } }) => {
    const isHeld = stateReason?.startsWith("held ") === true && stateReason !== present;
    return isHeld && state === "active" && !tables.locked.has(id);
  });
  const now = tables.now();
  for (const job of held) {
    const { nominal, fireAt } = job.due;
    tables.move(job, { fireAt: Math.max(nominal ?? now, Math.min(fireAt ?? now, now)), stateReason: null });
  }
  return held.length > 0;
}

function toDueJob(job: MemoryJob): DueJob {
  const { due, namespaceId, schedule, firing, priority, task, queue, labels } = job;
  const { fireAt, state } = due;
  if (fireAt === null || (state !== "active" && state !== "paused")) throw new Error(`job ${job.id} is not due`);
  return {
    jobId: job.id,
    shard: job.shard,
    class: due.class,
    state,
    version: due.version,
    nominal: due.nominal ?? fireAt,
    fireAt,
    settledTo: Math.max(due.firedThrough ?? 0, job.definedAt ?? job.createdAt),
    catchUpTo: due.catchUpTo,
    runsMade: due.runsMade,
    definition: { namespaceId, schedule, firing: firingPolicy(firing), priority, task, queue, labels },
  };
}

interface Picked {
  readonly row: FireRow;
  readonly job: MemoryJob;
}

/** due.fire: occurrences of jobs whose overlap policy is allow or skip become runs. */
function memoryFire(tables: MemoryTables): FireStore["fire"] {
  return (terms, rows) =>
    tables.statement(() => {
      const picked = pick(tables, terms, rows);
      for (const { job } of picked) refusePoisoned(tables, job.id);
      return picked.map((one) => fireOne(tables, one));
    });
}

function pick(tables: MemoryTables, terms: Terms, rows: readonly FireRow[]): Picked[] {
  const fenced = tables.fenced(terms.fence);
  return rows.flatMap((row) => {
    const job = tables.pick(fenced, terms, row.job);
    if (job === null) return [];
    const { overlap, runsMade } = job.due;
    const mayFire = overlap === "allow" || (overlap === "skip" && runsMade === row.job.runsMade);
    return mayFire ? [{ row, job }] : [];
  });
}

function outcomeOf(tables: MemoryTables, { row, job }: Picked): "fired" | "overlap" | "duplicate" {
  const { overlap, runIds } = job.due;
  const asked = overlap === "skip" ? [...runIds, row.runId] : [row.runId];
  const live = asked.find((id) => tables.runs.has(id));
  if (live === undefined) return "fired";
  return live === row.runId ? "duplicate" : "overlap";
}

function fireOne(tables: MemoryTables, picked: Picked): Fired {
  const { row, job } = picked;
  const { due, id: jobId } = job;
  const { runId, rank, next, catchUpTo } = row;
  const { nominal } = row.job;
  const outcome = outcomeOf(tables, picked);
  const isFired = outcome === "fired";
  const isLast = isFired && due.maxRuns !== null && due.firedCount + 1 >= due.maxRuns;
  const ledgerFrom = outcome === due.ledgerReason ? due.ledgerFrom : nominal;
  const runAt = due.fireAt ?? nominal;
  const createdAt = tables.now();
  if (isFired) {
    const untracked = due.overlap === "allow";
    insertRun(tables, job, { id: runId, state: "queued", rank, runAt, nominal, trigger: "schedule", untracked });
  }
  tables.move(job, {
    firedThrough: nominal,
    firedCount: due.firedCount + (isFired ? 1 : 0),
    runsMade: due.runsMade + (isFired ? 1 : 0),
    runIds: outcome === "overlap" ? due.runIds : [runId],
    nominal: isLast ? null : (next?.nominal ?? null),
    fireAt: isLast ? null : (next?.fireAt ?? null),
    state: isLast || next === null ? "completed" : due.state,
    stateReason: null,
    ledgerReason: isFired ? null : outcome,
    ledgerFrom: isFired ? null : ledgerFrom,
    catchUpTo: catchUpTo ?? due.catchUpTo,
  });
  const own = { reason: outcome, from: ledgerFrom ?? nominal, to: nominal, count: 1, detail: null } as const;
  note(tables, row.job, isFired ? row.notes : [{ ...own, reason: outcome }, ...row.notes], "kept");
  const run = isFired ? { id: runId, lane: job.lane, rank, createdAt } : null;
  return { jobId, outcome, run, isLast, runsMade: row.job.runsMade + (isFired ? 1 : 0) };
}
