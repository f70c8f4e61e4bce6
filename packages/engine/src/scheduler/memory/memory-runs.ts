import type { FinalRunStatus } from "@carillon/core";
import type { NewJobRun, Queued } from "@carillon/store";
import type { FireStore } from "../../schedules/fire-store.js";
import type { MemoryJob, MemoryRun } from "./memory-rows.js";
import type { MemoryTables } from "./memory-tables.js";
import { nearest } from "./nearest.js";

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

export function toQueued({ id, lane, rank }: MemoryRun): Queued {
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
