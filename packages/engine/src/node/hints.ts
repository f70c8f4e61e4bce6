import type { Instant } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { Waiters } from "../dispatch/waiters.js";
import type { DueJob } from "../scheduler/fire-store.js";
import type { Scheduler } from "../scheduler/scheduler.js";
import type { Database } from "../store/db/database.js";
import type { DueRun, Queued } from "../store/entities/runs.js";

const channel = "carillon_hint";

/** Schedulers look at everything every 15 s, 30 s ahead: whatever is due later than this they find in time by themselves. */
const soonMs = 30_000;

export interface HintsOptions {
  readonly database: Pick<Database, "listen" | "notify">;
  readonly waiters: Waiters;
  readonly scheduler: () => Scheduler;
  /** Workers of this node may hold runs that are to stop. */
  readonly passOnStops: () => void;
  readonly wakeScheduler: () => void;
  readonly wakeCoordinator: () => void;
  /** Calendars changed: jobs that follow them are to be looked at. */
  readonly wakeCalendars: () => void;
  readonly wakeBackfills: () => void;
  readonly membership: () => Membership;
  /** The database's clock. */
  readonly now: () => Instant;
}

/**
 * Tells whoever waits that something changed: within the node by a call, other nodes by NOTIFY. Every hint may be lost;
 * the full looks of the scheduler and of the gateway find what it would have told.
 */
export class Hints {
  readonly #options: HintsOptions;
  #listening: { stop(): Promise<void> } | null = null;

  constructor(options: HintsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#listening = this.#options.database.listen(
      channel,
      (payload) => this.#take(payload),
      () => this.#lookEverywhere(),
    );
  }

  async stop(): Promise<void> {
    await this.#listening?.stop();
    this.#listening = null;
  }

  /** Runs became claimable: the workers of this node look now, other nodes are told. */
  queued(runs: readonly Queued[]): void {
    if (runs.length === 0) return;
    const lanes = new Set(runs.map((run) => run.lane));
    this.#options.waiters.hint(lanes);
    this.#options.database.notify(channel, `lanes ${[...lanes].join(",")}`);
  }

  dueJobs(jobs: readonly DueJob[]): void {
    const soon = jobs.filter((job) => this.#isSoon(job.fireAt));
    for (const job of soon) this.#options.scheduler().hintJob(job);
    this.#due(soon.map((job) => job.shard));
  }

  dueRuns(runs: readonly DueRun[]): void {
    const soon = runs.filter((run) => this.#isSoon(run.runAt));
    for (const run of soon) this.#options.scheduler().hintRun(run);
    this.#due(soon.map((run) => run.shard));
  }

  /** Jobs of these shards changed: whoever owns them reads them again. */
  changed(shards: readonly number[]): void {
    const { epochs } = this.#options.membership();
    this.#options.scheduler().hintShards(shards.filter((shard) => epochs.has(shard)));
    this.#due(shards);
  }

  /** Running runs were asked to stop: whoever holds them tells their workers. */
  stopped(): void {
    this.#options.passOnStops();
    this.#options.database.notify(channel, "stops");
  }

  calendarsChanged(): void {
    this.#options.wakeCalendars();
    this.#options.database.notify(channel, "calendars");
  }

  windowsChanged(): void {
    this.#lookAtWindows();
    this.#options.database.notify(channel, "windows");
  }

  backfillStarted(): void {
    this.#options.wakeBackfills();
    this.#options.database.notify(channel, "backfills");
  }

  /** A node came or went, or gave shards up: the others share anew without waiting for their next pass. */
  sharesMoved(): void {
    this.#options.database.notify(channel, "shares");
  }

  #isSoon(at: Instant): boolean {
    return at <= this.#options.now() + soonMs;
  }

  #due(shards: readonly number[]): void {
    if (shards.length === 0) return;
    this.#options.wakeScheduler();
    const elsewhere = new Set(shards.filter((shard) => !this.#options.membership().epochs.has(shard)));
    if (elsewhere.size > 0) this.#options.database.notify(channel, `shards ${[...elsewhere].join(",")}`);
  }

  #take(payload: string): void {
    const [kind, list = ""] = payload.split(" ", 2);
    if (kind === "shares") return this.#options.wakeCoordinator();
    if (kind === "stops") return this.#options.passOnStops();
    if (kind === "calendars") return this.#options.wakeCalendars();
    if (kind === "windows") return this.#lookAtWindows();
    if (kind === "backfills") return this.#options.wakeBackfills();
    const ids = list.split(",").map(Number);
    if (kind === "lanes") this.#options.waiters.hint(new Set(ids));
    if (kind === "shards") this.#readAgain(ids.filter((id) => this.#options.membership().epochs.has(id)));
  }

  /** The connection was away, and hints may have been missed. */
  #lookEverywhere(): void {
    this.#options.wakeCalendars();
    this.#options.wakeBackfills();
    this.#options.scheduler().hintWindows();
    this.#options.waiters.hint(null);
    this.#readAgain([...this.#options.membership().epochs.keys()]);
  }

  #lookAtWindows(): void {
    this.#options.scheduler().hintWindows();
    this.#options.wakeScheduler();
  }

  #readAgain(shards: readonly number[]): void {
    this.#options.scheduler().hintShards(shards);
    this.#options.wakeScheduler();
  }
}
