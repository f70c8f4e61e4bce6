import { CarillonError, type JobSpec, type MissedChoice } from "@carillon/core";
import { noEnds, type UpstreamEnds } from "../../../../src/dependencies/upstream-ends.js";
import { ChangeTransaction } from "../../../../src/jobs/change/change-transaction.js";
import { applyCancel } from "../../../../src/jobs/change/job-canceller.js";
import { JobEditor } from "../../../../src/jobs/change/job-editor.js";
import { JobPauser, PauseExpiry } from "../../../../src/jobs/change/job-pauser.js";
import type { Queryable } from "@carillon/store";
import type { JobUnitOfWork } from "../../../../src/jobs/transaction/job-unit-of-work.js";
import { memoryFireStore, memoryUnitOfWork } from "../../../../src/scheduler/memory/memory-fire-store.js";
import { memoryChanges } from "../../../../src/scheduler/memory/memory-job-transaction.js";
import type { MemoryTables } from "../../../../src/scheduler/memory/memory-tables.js";
import { DueRules } from "../../../../src/schedules/due-rules.js";
import { ScheduleCache } from "../../../../src/schedules/schedule-cache.js";
import { namedCalendars } from "../draw/calendars.js";

const namespaceId = 1;
const who = { actor: "a user" };

/** The simulation has no job that waits for others. */
const upstreamEnds: Pick<UpstreamEnds, "process" | "write" | "release" | "countPending"> = {
  process: async () => noEnds,
  write: async () => undefined,
  release: async () => 0,
  countPending: async () => 0,
};

/** Changed shards are announced by `onChanged`; every job is a stored one, so there are no runs to adopt. */
function contextOf(tables: MemoryTables, onChanged: (shard: number) => void) {
  const none = async (): Promise<never[]> => [];
  return {
    now: tables.now,
    shardCount: 1,
    limits: { changeLockTimeoutMs: 0 },
    emit: () => undefined,
    wakeups: {
      jobsChanged: (shards: readonly number[]): void => shards.forEach(onChanged),
      runsQueued: () => undefined,
      broadcast: () => undefined,
    },
    store: {
      changes: {
        ...memoryChanges(tables),
        definitionOf: async () => null,
        holdRun: async () => null,
        adoptLive: async () => false,
        adoptEnded: async () => false,
      },
      jobs: { idOfKey: async () => null },
      lanes: { known: () => 1, ensure: none },
      readsOver: () => ({ live: none, finished: none, toCome: none, progress: async () => new Map() }),
      calendarLinks: {
        pin: async (_tx: Queryable, ids: readonly number[]) => new Set(ids),
        link: async () => undefined,
        unlink: async () => undefined,
        behindOf: none,
      },
      upstreamLinks: { relink: async () => undefined, unlink: async () => undefined, isWhole: async () => true },
    },
  };
}

/** busy: another transaction holds the job. ended: it is cancelled. */
export type ChangeOutcome = "done" | "busy" | "ended";

/** Changes of jobs by the product's own code, over the tables in memory. */
export class VirtualChanges {
  readonly expiry: PauseExpiry;
  readonly #transaction: ChangeTransaction;
  readonly #pauser: JobPauser;
  readonly #editor: JobEditor;
  readonly #unitOfWork: JobUnitOfWork;

  constructor(tables: MemoryTables, onChanged: (shard: number) => void) {
    const unitOfWork = memoryUnitOfWork(tables);
    this.#unitOfWork = unitOfWork;
    const rules = new DueRules({
      schedules: new ScheduleCache(10_000, false),
      calendars: namedCalendars,
      store: memoryFireStore(tables),
    });
    const context = contextOf(tables, onChanged);
    this.#transaction = new ChangeTransaction(context, {
      unitOfWork,
      upstreamEnds,
      calendarSweep: { follow: async () => [] },
      queues: { isKnown: () => true, ensure: async () => undefined, orderOf: () => null },
      rules,
    });
    this.expiry = new PauseExpiry(context, { unitOfWork, rules, upstreamEnds });
    this.#pauser = new JobPauser({ transaction: this.#transaction, rules, upstreamEnds });
    this.#editor = new JobEditor(context, {
      transaction: this.#transaction,
      unitOfWork,
      rules,
      creator: { create: () => Promise.reject(new Error("the simulation edits jobs that exist")) },
    });
  }

  pause(id: string, until: number | null, missed: MissedChoice): Promise<ChangeOutcome> {
    return done(() => this.#pauser.pause(namespaceId, { id }, { reason: null, until, missed }, who));
  }

  resume(id: string, missed: MissedChoice): Promise<ChangeOutcome> {
    return done(() => this.#pauser.resume(namespaceId, { id }, { missed }, who));
  }

  edit(id: string, change: (spec: JobSpec) => JobSpec): Promise<ChangeOutcome> {
    return done(() => this.#editor.edit(namespaceId, { id }, change, who));
  }

  cancel(id: string): Promise<ChangeOutcome> {
    return done(() =>
      this.#transaction.run(namespaceId, { id }, who, {
        processesDue: true,
        apply: async ({ tx, draft, schedule }) => {
          await this.#unitOfWork.readLive(tx, draft, { hold: true });
          return { result: undefined, patch: applyCancel(draft, schedule, { running: "keep" }) };
        },
      }),
    );
  }
}

async function done(change: () => Promise<unknown>): Promise<ChangeOutcome> {
  try {
    await change();
    return "done";
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    if (error.code === "job_busy") return "busy";
    if (error.code === "job_ended") return "ended";
    throw error;
  }
}
