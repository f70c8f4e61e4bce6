import type { Instant } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { Gateway } from "../dispatch/gateway.js";
import type { DueJob } from "../scheduler/fire-store.js";
import type { Scheduler } from "../scheduler/scheduler.js";
import type { Database } from "../store/db/database.js";
import type { DueRun, Notice, Queued } from "../store/entities/runs.js";

const channel = "carillon_hint";

/** Schedulers look at everything every 15 s, 30 s ahead: whatever is due later than this they find in time by themselves. */
const soonMs = 30_000;

/** NOTIFY takes less than 8,000 bytes. */
const lanesPerHint = 200;

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

  /** Runs became claimable: the workers of this node look now, other nodes are told, unless they were. */
  queued(runs: readonly Queued[], telling: Telling = "now"): void {
    if (runs.length === 0) return;
    const hints = this.#hintHere(runs, telling === "done" ? new Map() : this.#lanes);
    this.#options.hintLimits(hints.map((hint) => hint.lane));
    if (telling !== "done") this.#options.database.notify(channel, this.#takeLanes, telling === "soon");
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
  readonly #takeLanes = (): string[] => partsOf("lanes", this.#lanes);
  readonly #takeAdmitted = (): string[] => partsOf("admitted", this.#admitted);

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
    if (kind === "lanes" || kind === "admitted") {
      const hints = list.split(",").map(toLaneHint);
      if (kind === "lanes") this.#options.hintLimits(hints.map((hint) => hint.lane));
      return this.#options.gateway().hint(hints);
    }
    const ids = list.split(",").map(Number);
    if (kind === "shards") this.#readAgain(ids.filter((id) => this.#options.membership().epochs.has(id)));
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

type LaneHint = Omit<Queued, "id">;

/** The lowest rank in each lane of each namespace. */
function lowestOf(runs: readonly Queued[]): readonly LaneHint[] {
  if (runs.length === 1) return runs;
  const lowest = new Map<string, LaneHint>();
  let last: Queued | undefined;
  for (const run of runs) {
    if (run.lane === last?.lane && run.namespaceId === last.namespaceId && run.rank >= last.rank) continue;
    keepLowest(lowest, run);
    last = run;
  }
  return [...lowest.values()];
}

function keepLowest(lowest: Map<string, LaneHint>, hint: LaneHint): void {
  const key = `${hint.lane} ${hint.namespaceId ?? ""}`;
  const before = lowest.get(key);
  if (before === undefined || hint.rank < before.rank) lowest.set(key, hint);
}

function partsOf(word: string, gathered: Map<string, LaneHint>): string[] {
  const lanes = Array.from(gathered.values(), laneText);
  gathered.clear();
  const parts: string[] = [];
  for (let first = 0; first < lanes.length; first += lanesPerHint) {
    parts.push(`${word} ${lanes.slice(first, first + lanesPerHint).join(",")}`);
  }
  return parts;
}

const laneText = ({ lane, rank, namespaceId }: LaneHint): string =>
  namespaceId === undefined ? `${lane}:${rank}` : `${lane}:${rank}:${namespaceId}`;

/** The hint of runs, for the statement that stores them; null if it would be too long. */
export function noticeOf(runs: readonly Queued[]): Notice | null {
  const lanes = lowestOf(runs);
  return lanes.length > lanesPerHint ? null : { channel, payload: `lanes ${lanes.map(laneText).join(",")}` };
}

function toLaneHint(text: string): LaneHint {
  const [lane, rank, namespaceId] = text.split(":", 3).map(Number);
  return { lane: lane ?? 0, rank: rank ?? 0, ...(namespaceId !== undefined && { namespaceId }) };
}
