import type { FireStore } from "../../schedules/fire-store.js";
import { note } from "./memory-due.js";
import { insertRun } from "./memory-runs.js";
import type { MemoryJob } from "./memory-rows.js";
import type { MemoryTables } from "./memory-tables.js";
import type { FireRow, Fired, Terms } from "@carillon/store";

interface Picked {
  readonly row: FireRow;
  readonly job: MemoryJob;
}

/** due.fire: occurrences of jobs whose overlap policy is allow or skip become runs. */
export function memoryFire(tables: MemoryTables): FireStore["fire"] {
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

/** What a trigger or a constraint does that refuses one row. */
export function refusePoisoned(tables: MemoryTables, jobId: string): void {
  if (!tables.poisoned.has(jobId)) return;
  throw Object.assign(new Error(`no run of job ${jobId} can be stored`), { code: "P0001" });
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
