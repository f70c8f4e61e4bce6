import type { Follower } from "../dependencies/follower.js";
import { CarillonError, type DurationMs, type Instant, type ScheduleSpec } from "@carillon/core";
import { Adopter } from "../jobs/change/adopter.js";
import type { Changed } from "../jobs/change/change.js";
import { ChangeTransaction, type ChangeTransactionOptions } from "../jobs/change/change-transaction.js";
import type { DueRules } from "../schedules/due-rules.js";
import { jobChanger } from "../jobs/change/job-changer.js";
import { JobEdits } from "../jobs/change/job-edits.js";
import { JobEndings } from "../jobs/change/job-endings.js";
import { JobPauses } from "../jobs/change/job-pauses.js";
import { JobRecords } from "../jobs/change/job-records.js";
import { PauseExpiry } from "../jobs/change/pause-expiry.js";
import { RunNow } from "../jobs/change/run-now.js";
import type { JobCreator } from "../jobs/create-job.js";
import { JobReader } from "../jobs/job-reader.js";
import { RunLister } from "../runs/run-lister.js";
import { RunReader } from "../runs/run-reader.js";
import type { JobChanges } from "../jobs/job-changes.js";
import type { Settled } from "../jobs/transaction/settler.js";
import { namesIn, type Queryable } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";

export interface JobChangingOptions {
  readonly db: Queryable;
  readonly store: EngineStore;
  readonly creator: JobCreator;
  readonly follower: Follower;
  readonly rules: DueRules;
  readonly followCalendars: ChangeTransactionOptions["followCalendars"];
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly shards: number;
  readonly patienceMs: DurationMs;
  readonly onChanged: (changed: Changed<unknown>) => void;
  /** Pauses came to their end. */
  readonly onExpired: (settled: Settled) => void;
  readonly onStopped: (stopped: Settled["stopped"]) => void;
  readonly onEnded: (ended: Settled["ended"]) => void;
}

export interface JobChanging {
  readonly api: JobChanges;
  readonly pauseExpiry: PauseExpiry;
  readonly transaction: ChangeTransaction;
  /** One-off jobs that schedules name become stored jobs, so that others can wait for them. */
  readonly adoptUpstreams: (namespaceId: number, schedules: readonly ScheduleSpec[]) => Promise<void>;
}

/** The parts that change jobs, put together. */
export function makeJobChanging(options: JobChangingOptions): JobChanging {
  const { db, store, creator, rules, newId, now, shards, patienceMs, onChanged, onStopped } = options;
  const { changes, lanes, namespaces, queueBook: queues } = store;
  const adopter = new Adopter({ changes, shards, readsOver: store.readsOver });
  const { follower, followCalendars } = options;
  const transaction = new ChangeTransaction({
    store,
    follower,
    followCalendars,
    lanes,
    queues,
    rules,
    adopter,
    patienceMs,
    onChanged,
  });
  const pauses = new JobPauses({
    transaction,
    rules,
    dependencies: store.dependencies,
    untold: (jobId) => store.dependencies.untold(db, jobId),
  });
  const runs = new RunReader(store.reads);
  const create: JobCreator["create"] = (namespaceId, spec) => creator.create(namespaceId, spec);
  const api = jobChanger({
    db,
    store,
    transaction,
    edits: new JobEdits({ transaction, changes, settler: store.settler, rules, create, now }),
    pauses,
    endings: new JobEndings({ transaction, store, patienceMs, onStopped, onEnded: options.onEnded }),
    runNow: new RunNow({ transaction, newId }),
    records: new JobRecords(db, changes, rules),
    jobs: new JobReader(store.jobs, runs, new RunLister(store.search, runs)),
    runs,
    namespaceId: async (name) => {
      const id = await namespaces.find(name);
      if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
      return id;
    },
  });
  const adoptUpstreams: JobChanging["adoptUpstreams"] = async (namespaceId, schedules) => {
    const ids = schedules.flatMap((schedule) => (schedule.kind === "after" ? namesIn(schedule).ids : []));
    await transaction.adoptOneOffs(namespaceId, ids);
  };
  return { api, pauseExpiry: new PauseExpiry(store, rules, options.onExpired), transaction, adoptUpstreams };
}
