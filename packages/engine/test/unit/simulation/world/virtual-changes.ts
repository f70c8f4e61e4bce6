import { CarillonError, type JobSpec, type MissedChoice } from "@carillon/core";
import { heardNothing } from "../../../../src/dependencies/follower.js";
import { applyCancel } from "../../../../src/jobs/change/apply-cancel.js";
import { ChangeTransaction } from "../../../../src/jobs/change/change-transaction.js";
import { JobEdits } from "../../../../src/jobs/change/job-edits.js";
import { JobPauses } from "../../../../src/jobs/change/job-pauses.js";
import { PauseExpiry } from "../../../../src/jobs/change/pause-expiry.js";
import type { Settler } from "../../../../src/jobs/transaction/settler.js";
import { memoryFireStore, memorySettle, memorySettler } from "../../../../src/scheduler/memory/memory-fire-store.js";
import { memoryChanges } from "../../../../src/scheduler/memory/memory-settlement.js";
import type { MemoryTables } from "../../../../src/scheduler/memory/memory-tables.js";
import { nodeRules } from "../../../../src/schedules/node-rules.js";
import { ScheduleCache } from "../../../../src/schedules/schedule-cache.js";
import { namedCalendars } from "../draw/calendars.js";

const namespaceId = 1;
const who = { actor: "somebody" };

/** busy: somebody holds the job. ended: it is cancelled. */
export type ChangeOutcome = "done" | "busy" | "ended";

/** Changes of jobs by the product's own code, over the tables in memory. */
export class VirtualChanges {
  readonly expiry: PauseExpiry;
  readonly #transaction: ChangeTransaction;
  readonly #pauses: JobPauses;
  readonly #edits: JobEdits;
  readonly #settler: Settler;

  constructor(tables: MemoryTables, onChanged: (shard: number) => void) {
    const settler = memorySettler(tables);
    this.#settler = settler;
    const settle = memorySettle(tables);
    const changes = memoryChanges(tables);
    const rules = nodeRules({
      schedules: new ScheduleCache(10_000, false),
      calendars: namedCalendars,
      store: memoryFireStore(tables),
    });
    const dependencies = { release: async () => ({ count: 0, dropped: null }) };
    this.#transaction = new ChangeTransaction({
      store: {
        settle,
        settler,
        changes,
        jobs: { idOfKey: async () => null },
        calendarLinks: {
          pin: async (_tx, ids) => new Set(ids),
          link: async () => undefined,
          unlink: async () => undefined,
          behindOf: async () => [],
        },
        upstreamLinks: { relink: async () => undefined, unlink: async () => undefined, isWhole: async () => true },
      },
      followCalendars: async () => [],
      follower: { hear: async () => heardNothing, write: async () => undefined },
      queues: { isKnown: () => true, ensure: async () => undefined, orderOf: () => null },
      lanes: { known: () => 1, ensure: async () => [] },
      rules,
      adopter: { adopt: async () => null },
      patienceMs: 0,
      onChanged: ({ shard }) => onChanged(shard),
    });
    this.expiry = new PauseExpiry({ settle, settler, changes, dependencies }, rules, () => undefined);
    this.#pauses = new JobPauses({
      transaction: this.#transaction,
      rules,
      dependencies,
      untold: async () => null,
    });
    this.#edits = new JobEdits({
      transaction: this.#transaction,
      changes: { definitionOf: async () => null },
      settler,
      rules,
      create: () => Promise.reject(new Error("the simulation edits jobs that exist")),
      now: tables.now,
    });
  }

  pause(id: string, until: number | null, missed: MissedChoice): Promise<ChangeOutcome> {
    return done(() => this.#pauses.pause(namespaceId, { id }, { reason: null, until, missed }, who));
  }

  resume(id: string, missed: MissedChoice): Promise<ChangeOutcome> {
    return done(() => this.#pauses.resume(namespaceId, { id }, { missed }, who));
  }

  edit(id: string, change: (spec: JobSpec) => JobSpec): Promise<ChangeOutcome> {
    return done(() => this.#edits.edit(namespaceId, { id }, change, who));
  }

  cancel(id: string): Promise<ChangeOutcome> {
    return done(() =>
      this.#transaction.run(namespaceId, { id }, who, {
        settles: true,
        apply: async ({ tx, draft, schedule }) => {
          await this.#settler.learnLive(tx, draft, { hold: true });
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
