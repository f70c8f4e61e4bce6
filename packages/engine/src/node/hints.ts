import type { Instant } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { Gateway } from "../dispatch/gateway.js";
import type { DueJob } from "../scheduler/fire-store.js";
import type { Scheduler } from "../scheduler/scheduler.js";
import type { Database } from "../store/db/database.js";
import type { Timers } from "../store/db/ports.js";
import type { DueRun, PromotedRun, Queued } from "../store/entities/runs.js";
import {
  byTime,
  channel,
  keepLowest,
  type LaneHint,
  lowestOf,
  textsOf,
  toLaneHint,
  toTimedHint,
} from "./lane-hints.js";
import { type TimedHint, TimedHints } from "./timed-hints.js";

/** Schedulers look at everything every 15 s, 30 s ahead: whatever is due later than this they find in time by themselves. */
const soonMs = 30_000;

export interface HintsOptions {
  readonly database: Pick<Database, "listen" | "notify">;
  readonly gateway: () => Pick<Gateway, "hint" | "hintAll">;
  readonly scheduler: () => Scheduler;
  /** Runs were queued in these lanes: some may have limits to wait for. */
  readonly hintLimits: (lanes: readonly number[]) => void;
  /** Workers of this node may hold runs that are to stop. */
  readonly passOnStops: () => void;
  readonly wakeScheduler: () => void;
  readonly wakeCoordinator: () => void;
  /** Calendars changed: jobs that follow them are to be looked at. */
  readonly wakeCalendars: () => void;
  readonly wakeBackfills: () => void;
  readonly wakeOperations: () => void;
  /** Queues or namespaces changed: whoever goes by them reads them again. */
  readonly wakeQueues: () => void;
  readonly membership: () => Membership;
  readonly timers: Timers;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** When other nodes are told of runs. soon: one batch follows another, and hints may gather. done: they were, by the statement itself. */
export type Telling = "now" | "soon" | "done";

/**
 * Tells whoever waits that something changed: within the node by a call, other nodes by NOTIFY. Every hint may be lost;
 * the full looks of the scheduler and of the gateway find what it would have told.
 */
export class Hints {
  readonly #options: HintsOptions;
  /** Lanes that others are to be told of, with the lowest rank that became claimable. */
  readonly #lanes = new Map<string, LaneHint>();
  /** The same for runs that their limits admitted: nobody has to look at these again. */
  readonly #admitted = new Map<string, LaneHint>();
  /** Of runs that are claimable later on. */
  readonly #ahead: TimedHint[] = [];
  readonly #timed: TimedHints;
  #listening: { stop(): Promise<void> } | null = null;

  constructor(options: HintsOptions) {
    this.#options = options;
    const { timers, now } = options;
    this.#timed = new TimedHints({ timers, now, onDue: (hints) => this.#hintNow(lowestOf(hints)) });
  }

  start(): void {
    this.#listening = this.#options.database.listen(
      channel,
      (payload) => this.#take(payload),
      () => this.#lookEverywhere(),
    );
  }

  async stop(): Promise<void> {
    this.#timed.stop();
    await this.#listening?.stop();
    this.#listening = null;
  }

  /** Runs became claimable: the workers of this node look now, other nodes are told, unless they were. */
  queued(runs: readonly Queued[], telling: Telling = "now"): void {
    if (runs.length === 0) return;
    const hints = this.#hintHere(runs, telling === "done" ? new Map() : this.#lanes);
    this.#options.hintLimits(hints.map((hint) => hint.lane));
    if (telling !== "done") this.#options.database.notify(channel, this.#takeLanes, telling === "soon");
  }

  /** Runs are claimable from their time on: whoever serves workers looks then. */
  promoted(runs: readonly PromotedRun[]): void {
    const now = this.#options.now();
    this.queued(runs.filter((run) => run.runAt <= now));
    const ahead = byTime(runs.filter((run) => run.runAt > now));
    if (ahead.length === 0) return;
    this.#timed.add(ahead);
    this.#ahead.push(...ahead);
    this.#options.database.notify(channel, this.#takeAhead);
  }

  /** Runs were admitted by their limits. */
  admitted(runs: readonly Queued[]): void {
    if (runs.length === 0) return;
    this.#hintHere(runs, this.#admitted);
    this.#options.database.notify(channel, this.#takeAdmitted);
  }

  #hintHere(runs: readonly Queued[], gathered: Map<string, LaneHint>): readonly LaneHint[] {
    const hints = lowestOf(runs);
    this.#options.gateway().hint(hints);
    for (const hint of hints) keepLowest(gathered, hint);
    return hints;
  }

  /** Whatever gathered since the last time, each lane once. */
  readonly #takeLanes = (): string[] => textsOf("lanes", takeAll(this.#lanes));
  readonly #takeAdmitted = (): string[] => textsOf("admitted", takeAll(this.#admitted));
  readonly #takeAhead = (): string[] => textsOf("timed", this.#ahead.splice(0));

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

  queuesChanged(): void {
    this.#options.database.notify(channel, "queues");
  }

  backfillStarted(): void {
    this.#options.wakeBackfills();
    this.#options.database.notify(channel, "backfills");
  }

  operationStarted(): void {
    this.#options.wakeOperations();
    this.#options.database.notify(channel, "operations");
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
    if (kind === "queues") return this.#options.wakeQueues();
    if (kind === "backfills") return this.#options.wakeBackfills();
    if (kind === "operations") return this.#options.wakeOperations();
    if (kind === "lanes") return this.#hintNow(list.split(",").map(toLaneHint));
    if (kind === "admitted") return this.#options.gateway().hint(list.split(",").map(toLaneHint));
    if (kind === "timed") return this.#timed.add(list.split(",").map(toTimedHint));
    const ids = list.split(",").map(Number);
    if (kind === "shards") this.#readAgain(ids.filter((id) => this.#options.membership().epochs.has(id)));
  }

  /** For this node alone. */
  #hintNow(hints: readonly LaneHint[]): void {
    this.#options.hintLimits(hints.map((hint) => hint.lane));
    this.#options.gateway().hint(hints);
  }

  /** The connection was away, and hints may have been missed. */
  #lookEverywhere(): void {
    this.#options.wakeCalendars();
    this.#options.wakeBackfills();
    this.#options.wakeOperations();
    this.#options.wakeQueues();
    this.#options.scheduler().hintWindows();
    this.#options.gateway().hintAll();
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

function takeAll(gathered: Map<string, LaneHint>): LaneHint[] {
  const hints = [...gathered.values()];
  gathered.clear();
  return hints;
}
