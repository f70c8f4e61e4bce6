import { firingPolicy } from "@carillon/core";
import type { FireStore } from "../../schedules/fire-store.js";
import type { MemoryJob } from "./memory-rows.js";
import type { MemoryTables } from "./memory-tables.js";
import { nearest } from "./nearest.js";
import type { DueJob, LedgerRange } from "@carillon/store";

type DueStore = Pick<FireStore, "load" | "pass" | "hold" | "release" | "park">;

const nothing: ReadonlySet<number> = new Set();

/** The statements of due.sql that make no run. */
export function memoryDue(tables: MemoryTables): DueStore {
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
    park: (fence, rows) =>
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
export function note(
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
