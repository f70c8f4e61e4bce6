import type { Instant, Timers } from "@carillon/core";
import type { Membership } from "../cluster/coordinator.js";
import type { Gateway } from "../dispatch/gateway.js";
import type { Scheduler } from "../scheduler/scheduler.js";
import type { Database, DueJob, DueRun, Notice, PromotedRun, Queued } from "@carillon/store";
import {
  byTime,
  channel,
  keepLowest,
  laneChannel,
  type LaneHint,
  lowestOf,
  textsOf,
  toLaneHint,
  toTimedHint,
} from "./lane-notices.js";
import { TimedHints } from "./timed-wakeups.js";

/** Schedulers look at everything every 15 s, 30 s ahead: whatever is due later than this they find in time by themselves. */
const soonMs = 30_000;

export interface HintsOptions {
  readonly database: Pick<Database, "listen" | "notify">;
  readonly gateway: () => Pick<Gateway, "id" | "hint" | "hintAll">;
  /** Where this node takes offers of workers for the runs that it stores; null: nowhere. */
  readonly address: () => string | null;
  readonly scheduler: () => Scheduler;
  /** Whether runs of some of these lanes may have limits to wait for. */
  readonly areLimited: (lanes: readonly number[]) => boolean;
  /** Runs were queued in these lanes; says whether some of them may have limits. */
  readonly hintLimits: (lanes: readonly number[]) => boolean;
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
  /** Lanes that whoever serves workers is to be told of, with the lowest rank that became claimable. */
  readonly #open = new Map<string, LaneHint>();
  /** The same for lanes with limits: everybody is told, since the limits are looked after by who owns them. */
  readonly #limited = new Map<string, LaneHint>();
  readonly #timed: TimedHints;
  #listening: { stop(): Promise<void> } | null = null;
  #serving: { stop(): Promise<void> } | null = null;

  constructor(options: HintsOptions) {
    this.#options = options;
    const { timers, now } = options;
    this.#timed = new TimedHints({ timers, now, onDue: (hints) => void this.#hintNow(lowestOf(hints)) });
  }

  start(): void {
    this.#listening = this.#options.database.listen(
      channel,
      (payload) => this.#take(payload),
      () => this.#lookEverywhere(),
    );
  }

  /** There are workers here: from now on this node is told of the runs that they may get. */
  serve(): void {
    const lookAtAll = (): void => this.#options.gateway().hintAll();
    this.#serving ??= this.#options.database.listen(laneChannel, (text) => this.#takeLanes(text), lookAtAll, lookAtAll);
  }

  async stop(): Promise<void> {
    this.#timed.stop();
    await Promise.all([this.#listening?.stop(), this.#serving?.stop()]);
    this.#listening = null;
  }

  /** Runs became claimable: the workers of this node look now, other nodes are told, unless they were. */
  queued(runs: readonly Queued[], telling: Telling = "now"): void {
    if (runs.length === 0) return;
    const hints = lowestOf(runs);
    const isLimited = this.#hintNow(hints, telling === "now" ? null : this.#options.gateway().id);
    if (telling === "done") return;
    for (const hint of hints) keepLowest(isLimited ? this.#limited : this.#open, hint);
    const canWait = telling === "soon";
    if (isLimited) this.#options.database.notify(channel, this.#limitedTexts, canWait);
    else this.#options.database.notify(laneChannel, this.#openTexts, canWait);
  }

  /** The hint of runs, for the statement that stores them; null if it would be too long. */
  noticeOf(runs: readonly Queued[]): Notice | null {
    const hints = lowestOf(runs);
    const [payload = "", ...others] = textsOf("lanes", hints);
    if (others.length > 0) return null;
    if (this.#areLimited(hints)) return { channel, payload };
    const address = this.#options.address();
    return { channel: laneChannel, payload: address === null ? payload : `${payload} ${address}` };
  }

  /** Runs are claimable from their time on: whoever serves workers looks then. */
  promoted(runs: readonly PromotedRun[]): void {
    const now = this.#options.now();
    this.queued(runs.filter((run) => run.runAt <= now));
    const ahead = byTime(runs.filter((run) => run.runAt > now));
    if (ahead.length === 0) return;
    this.#timed.add(ahead);
    // Few at a time, so that they need not gather.
    const texts = (): string[] => textsOf("timed", ahead);
    this.#options.database.notify(this.#areLimited(ahead) ? channel : laneChannel, texts);
  }

  /** Runs were admitted by their limits. */
  admitted(runs: readonly Queued[]): void {
    if (runs.length === 0) return;
    const hints = lowestOf(runs);
    this.#options.gateway().hint(hints);
    for (const hint of hints) keepLowest(this.#open, hint);
    this.#options.database.notify(laneChannel, this.#openTexts);
  }

  #areLimited(hints: readonly LaneHint[]): boolean {
    return this.#options.areLimited(hints.map((hint) => hint.lane));
  }

  /** Whatever gathered since the last time, each lane once. */
  readonly #openTexts = (): string[] => textsOf("lanes", takeAll(this.#open));
  readonly #limitedTexts = (): string[] => textsOf("lanes", takeAll(this.#limited));

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
    if (kind === "lanes") return void this.#hintNow(list.split(",").map(toLaneHint));
    if (kind === "timed") return this.#timed.add(list.split(",").map(toTimedHint));
    const ids = list.split(",").map(Number);
    if (kind === "shards") this.#readAgain(ids.filter((id) => this.#options.membership().epochs.has(id)));
  }

  /** Of lanes without limits. */
  #takeLanes(payload: string): void {
    const [kind, list = "", from = null] = payload.split(" ", 3);
    if (kind === "lanes") this.#options.gateway().hint(list.split(",").map(toLaneHint), from);
    else if (kind === "timed") this.#timed.add(list.split(",").map(toTimedHint));
  }

  /** For this node alone; says whether some of these lanes may have limits. */
  #hintNow(hints: readonly LaneHint[], from: string | null = null): boolean {
    this.#options.gateway().hint(hints, from);
    return this.#options.hintLimits(hints.map((hint) => hint.lane));
  }

  /** The connection was away, and hints may have been missed. */
  #lookEverywhere(): void {
    this.#options.wakeCalendars();
    this.#options.wakeBackfills();
    this.#options.wakeOperations();
    this.#options.wakeQueues();
    this.#options.scheduler().hintWindows();
    this.#options.gateway().hintAll();
    this.#readAgain(this.#options.membership().shards);
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
