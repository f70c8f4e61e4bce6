import type { JobChangeStore } from "@carillon/store";
import type { MemoryJob } from "./memory-rows.js";
import type { MemoryTables } from "./memory-tables.js";

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
