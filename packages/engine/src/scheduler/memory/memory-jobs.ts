import type { DueState, NewJob } from "@carillon/store";
import type { MemoryTables } from "./memory-tables.js";

/** Stores a job as job.insert does. */
export function insertJob(tables: MemoryTables, job: NewJob): void {
  const { id, namespaceId, shard, lane, key, task, queue, priority, payload, schedule, policy, labels, owner } = job;
  const place = { id, namespaceId, shard, lane, key, task, queue, priority, payload, schedule, policy, labels, owner };
  const now = tables.now();
  const due: DueState = {
    class: job.class,
    state: job.state,
    version: 1,
    nominal: job.nextNominal,
    fireAt: job.nextFireAt,
    firedThrough: null,
    firedCount: 0,
    maxRuns: job.maxRuns,
    overlap: job.overlap,
    runsMade: 0,
    runIds: [],
    ledgerFrom: null,
    ledgerReason: null,
    catchUpTo: job.catchUpTo,
    stateReason: null,
  };
  tables.jobs.set(id, {
    ...place,
    firing: job.firing,
    createdAt: now,
    updatedAt: now,
    definedAt: null,
    pause: null,
    endedAt: null,
    due,
  });
  for (const range of job.removed ?? []) tables.note({ jobId: id, namespaceId, version: 1, ...range }, "compared");
}
