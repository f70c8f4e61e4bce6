import type { Instant, Timers } from "@carillon/core";
import type { Database, DueJob, DueRun, HeldShard, Listening, Notice, PromotedRun, Queued } from "@carillon/store";
import type { FailedRun } from "../events.js";
import {
  keepLowest,
  type LaneNotice,
  lowestRanks,
  lowestRanksByTime,
  readLaneNotice,
  readTimedNotice,
  TimedWakeups,
  writeNotices,
} from "./lane-notices.js";

/** Notices for every node. */
const nodeChannel = "carillon_hint";
/** Notices of claimable runs, for nodes that serve workers. Other nodes do not listen, so that runs cost them no processor time. */
const laneChannel = "carillon_lane";

/** Schedulers read all due times every 15 s, 30 s ahead, so a later due time needs no notice. */
const soonMs = 30_000;

/** Changes without details: a subscriber reads the rows again. */
const changes = ["calendars", "windows", "queues", "backfills", "operations", "stops", "shards.moved"] as const;
type Change = (typeof changes)[number];

/** The topics of the bus with their payloads. The payload of a change is null. */
export interface WakeupTopics extends Readonly<Record<Change, null>> {
  /** Runs of these lanes are claimable. A requester is the gateway of the node that stored them, which would take a slot offer. */
  readonly lanes: { readonly notices: readonly LaneNotice[]; readonly requester: string | null };
  /** Notices of lanes may have been missed. */
  readonly "lanes.all": null;
  readonly "jobs.due": readonly DueJob[];
  readonly "runs.due": readonly DueRun[];
  /** Jobs of these shards, which this node owns, changed. */
  readonly "shards.changed": readonly number[];
  /** This node gained or lost shards. */
  readonly "shards.owned": { readonly gained: readonly HeldShard[]; readonly lost: readonly number[] };
  /** Runs of these jobs ended. Other runs of the same jobs may wait for that. */
  readonly "overlap.freed": readonly string[];
  readonly "limits.changed": null;
  /** Runs that hold limits were claimed. */
  readonly "limits.claimed": readonly string[];
  /** Runs that held limits ended, for now or for good. */
  readonly "limits.released": readonly string[];
  readonly "run.failed": FailedRun;
}

type Listener<Topic extends keyof WakeupTopics> = (payload: WakeupTopics[Topic]) => void;

/** When other nodes are notified of runs. batched: batches follow each other, and their notices may gather. sent: the statement that stored the runs has sent the notice. */
export type NotifyMode = "immediate" | "batched" | "sent";

export interface WakeupsOptions {
  readonly database: Pick<Database, "listen" | "notify">;
  readonly timers: Timers;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly ownsShard: (shard: number) => boolean;
  readonly ownShards: () => readonly number[];
}

/** Decides whether runs of some of these lanes may have limits to wait for. */
export interface LimitedLanes {
  isLimited(lanes: readonly number[]): boolean;
  /** The same, for runs that were queued: their limits are checked next. */
  runsQueued(lanes: readonly number[]): boolean;
}

/** The gateway of a node that requests slot offers for the runs that the node stores. */
export interface Requester {
  readonly gatewayId: string;
  /** null: other nodes cannot reach it yet. */
  readonly address: () => string | null;
}

/**
 * Wakes the components that wait for a change: those of this node by a call, other nodes by NOTIFY. Any notice may be lost: the full scans of
 * the scheduler and the gateway, and the period of each loop, find the same rows later.
 */
export class Wakeups {
  readonly #options: WakeupsOptions;
  readonly #listeners = new Map<keyof WakeupTopics, Listener<never>[]>();
  /** Gathered notices for the nodes that serve workers, with the lowest rank of each lane. */
  readonly #open = new Map<string, LaneNotice>();
  /** The same for lanes with limits: every node is notified, because a limit's owner admits its runs. */
  readonly #limited = new Map<string, LaneNotice>();
  readonly #timed: TimedWakeups;
  #limits: LimitedLanes = { isLimited: () => false, runsQueued: () => false };
  #requester: Requester | null = null;
  #listening: Listening | null = null;
  #serving: Listening | null = null;

  constructor(options: WakeupsOptions) {
    this.#options = options;
    const { timers, now } = options;
    this.#timed = new TimedWakeups({ timers, now, onDue: (notices) => void this.#wakeLanes(lowestRanks(notices)) });
  }

  on<Topic extends keyof WakeupTopics>(topic: Topic, listener: Listener<Topic>): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  /** Wakes the subscribers of this node alone. */
  publish<Topic extends keyof WakeupTopics>(topic: Topic, payload: WakeupTopics[Topic]): void {
    const listeners = this.#listeners.get(topic) as Listener<Topic>[] | undefined;
    if (listeners !== undefined) for (const listener of listeners) listener(payload);
  }

  /** Wakes the subscribers of other nodes alone. */
  announce(change: Change): void {
    this.#options.database.notify(nodeChannel, change === "shards.moved" ? "shares" : change);
  }

  /** Wakes the subscribers of every node. */
  broadcast(change: Change): void {
    this.publish(change, null);
    this.announce(change);
  }

  limitLanes(limits: LimitedLanes): void {
    this.#limits = limits;
  }

  /** Names this node as a requester of slot offers. */
  requestAs(requester: Requester): void {
    this.#requester = requester;
  }

  start(): void {
    this.#listening = this.#options.database.listen(
      nodeChannel,
      (payload) => this.#receive(payload),
      () => this.#wakeAll(),
    );
  }

  /** Called when this node serves workers: from then on it is notified of claimable runs. */
  serveWorkers(): void {
    const wakeAll = (): void => this.publish("lanes.all", null);
    this.#serving ??= this.#options.database.listen(laneChannel, (text) => this.#receiveLanes(text), wakeAll, wakeAll);
  }

  async stop(): Promise<void> {
    this.#timed.stop();
    await Promise.all([this.#listening?.stop(), this.#serving?.stop()]);
    this.#listening = null;
  }

  /** Runs became claimable. */
  runsQueued(runs: readonly Queued[], mode: NotifyMode = "immediate"): void {
    if (runs.length === 0) return;
    const notices = lowestRanks(runs);
    // Only new runs have a requester: runs that are queued again take no slot offers.
    const requester = mode === "immediate" ? null : (this.#requester?.gatewayId ?? null);
    const isLimited = this.#wakeLanes(notices, requester);
    if (mode === "sent") return;
    for (const notice of notices) keepLowest(isLimited ? this.#limited : this.#open, notice);
    const canWait = mode === "batched";
    if (isLimited) this.#options.database.notify(nodeChannel, this.#limitedTexts, canWait);
    else this.#options.database.notify(laneChannel, this.#openTexts, canWait);
  }

  /** The notice of runs, for the statement that stores them to send; null if it would be too long. */
  noticeFor(runs: readonly Queued[]): Notice | null {
    const notices = lowestRanks(runs);
    const [payload = "", ...others] = writeNotices("lanes", notices);
    if (others.length > 0) return null;
    if (this.#isLimitedAny(notices)) return { channel: nodeChannel, payload };
    const address = this.#requester?.address() ?? null;
    return { channel: laneChannel, payload: address === null ? payload : `${payload} ${address}` };
  }

  /** Runs were queued, some of them ahead of their time: gateways claim those at their time. */
  runsPromoted(runs: readonly PromotedRun[]): void {
    const now = this.#options.now();
    this.runsQueued(runs.filter((run) => run.runAt <= now));
    const ahead = lowestRanksByTime(runs.filter((run) => run.runAt > now));
    if (ahead.length === 0) return;
    this.#timed.add(ahead);
    // These are few at a time, so they need not gather.
    const texts = (): string[] => writeNotices("timed", ahead);
    this.#options.database.notify(this.#isLimitedAny(ahead) ? nodeChannel : laneChannel, texts);
  }

  /** Limits admitted runs. */
  runsAdmitted(runs: readonly Queued[]): void {
    if (runs.length === 0) return;
    const notices = lowestRanks(runs);
    this.publish("lanes", { notices, requester: null });
    for (const notice of notices) keepLowest(this.#open, notice);
    this.#options.database.notify(laneChannel, this.#openTexts);
  }

  jobsDue(jobs: readonly DueJob[]): void {
    const soon = jobs.filter((job) => this.#isSoon(job.fireAt));
    this.publish("jobs.due", soon);
    this.#announceShards(soon.map((job) => job.shard));
  }

  runsDue(runs: readonly DueRun[]): void {
    const soon = runs.filter((run) => this.#isSoon(run.runAt));
    this.publish("runs.due", soon);
    this.#announceShards(soon.map((run) => run.shard));
  }

  /** Jobs of these shards changed: the shards' owners read them again. */
  jobsChanged(shards: readonly number[]): void {
    this.publish(
      "shards.changed",
      shards.filter((shard) => this.#options.ownsShard(shard)),
    );
    this.#announceShards(shards);
  }

  #isSoon(at: Instant): boolean {
    return at <= this.#options.now() + soonMs;
  }

  #announceShards(shards: readonly number[]): void {
    if (shards.length === 0) return;
    const elsewhere = new Set(shards.filter((shard) => !this.#options.ownsShard(shard)));
    if (elsewhere.size > 0) this.#options.database.notify(nodeChannel, `shards ${[...elsewhere].join(",")}`);
  }

  #isLimitedAny(notices: readonly LaneNotice[]): boolean {
    return this.#limits.isLimited(notices.map((notice) => notice.lane));
  }

  /** The notices that have gathered since the last call, one for each lane. */
  readonly #openTexts = (): string[] => writeNotices("lanes", takeAll(this.#open));
  readonly #limitedTexts = (): string[] => writeNotices("lanes", takeAll(this.#limited));

  /** Returns whether some of the lanes may have limits. */
  #wakeLanes(notices: readonly LaneNotice[], requester: string | null = null): boolean {
    this.publish("lanes", { notices, requester });
    return this.#limits.runsQueued(notices.map((notice) => notice.lane));
  }

  #receive(payload: string): void {
    const [kind, list = ""] = payload.split(" ", 2);
    if (kind === "shares") return this.publish("shards.moved", null);
    if (kind === "lanes") return void this.#wakeLanes(list.split(",").map(readLaneNotice));
    if (kind === "timed") return this.#timed.add(list.split(",").map(readTimedNotice));
    const change = changes.find((one) => one === kind);
    if (change !== undefined) return this.publish(change, null);
    if (kind !== "shards") return;
    const shards = list.split(",").map(Number);
    this.publish(
      "shards.changed",
      shards.filter((shard) => this.#options.ownsShard(shard)),
    );
  }

  /** Notices of lanes without limits. */
  #receiveLanes(payload: string): void {
    const [kind, list = "", requester = null] = payload.split(" ", 3);
    if (kind === "lanes") this.publish("lanes", { notices: list.split(",").map(readLaneNotice), requester });
    else if (kind === "timed") this.#timed.add(list.split(",").map(readTimedNotice));
  }

  /** Called after a reconnect: notices may have been missed. */
  #wakeAll(): void {
    for (const change of ["calendars", "backfills", "operations", "queues", "windows"] as const)
      this.publish(change, null);
    this.publish("lanes.all", null);
    this.publish("shards.changed", this.#options.ownShards());
  }
}

function takeAll(gathered: Map<string, LaneNotice>): LaneNotice[] {
  const notices = [...gathered.values()];
  gathered.clear();
  return notices;
}
