import { type DurationMs, type Instant, type Timers, TimingWheel } from "@carillon/core";
import type { PromotedRun, Queued } from "@carillon/store";

/** NOTIFY takes less than 8,000 bytes. */
const maxNoticesPerText = 120;

/** Runs of a lane became claimable; the lowest of their ranks. */
export type LaneNotice = Omit<Queued, "id">;

/** Runs of a lane become claimable at an instant. */
export interface TimedLaneNotice extends LaneNotice {
  readonly at: Instant;
}

/** The lowest rank in each lane of each namespace. */
export function lowestRanks(runs: readonly LaneNotice[]): readonly LaneNotice[] {
  if (runs.length === 1) return runs;
  const lowest = new Map<string, LaneNotice>();
  let last: LaneNotice | undefined;
  for (const run of runs) {
    if (run.lane === last?.lane && run.namespaceId === last.namespaceId && run.rank >= last.rank) continue;
    keepLowest(lowest, run);
    last = run;
  }
  return [...lowest.values()];
}

export function keepLowest(lowest: Map<string, LaneNotice>, notice: LaneNotice): void {
  const key = `${notice.lane} ${notice.namespaceId ?? ""}`;
  const before = lowest.get(key);
  if (before === undefined || notice.rank < before.rank) lowest.set(key, notice);
}

/** The lowest rank in each lane of each namespace, for each instant at which runs become claimable. */
export function lowestRanksByTime(runs: readonly PromotedRun[]): readonly TimedLaneNotice[] {
  const groups = new Map<Instant, PromotedRun[]>();
  for (const run of runs) {
    const group = groups.get(run.runAt);
    if (group === undefined) groups.set(run.runAt, [run]);
    else group.push(run);
  }
  return [...groups].flatMap(([at, group]) => lowestRanks(group).map((notice) => ({ ...notice, at })));
}

/** The texts of NOTIFY for these notices, as many as their length requires. */
export function writeNotices(kind: "lanes" | "timed", notices: readonly (LaneNotice | TimedLaneNotice)[]): string[] {
  const texts: string[] = [];
  for (let first = 0; first < notices.length; first += maxNoticesPerText) {
    texts.push(
      `${kind} ${notices
        .slice(first, first + maxNoticesPerText)
        .map(writeNotice)
        .join(",")}`,
    );
  }
  return texts;
}

const writeNotice = ({ lane, rank, namespaceId, at }: LaneNotice & Partial<TimedLaneNotice>): string =>
  [lane, rank, namespaceId, at].join(":").replace(/:+$/, "");

export function readLaneNotice(text: string): LaneNotice {
  const [lane = "", rank = "", namespaceId = ""] = text.split(":", 3);
  return { lane: Number(lane), rank: Number(rank), ...(namespaceId !== "" && { namespaceId: Number(namespaceId) }) };
}

export function readTimedNotice(text: string): TimedLaneNotice {
  return { ...readLaneNotice(text), at: Number(text.split(":", 4)[3] ?? 0) };
}

export interface TimedWakeupsOptions {
  readonly timers: Timers;
  /** The database's clock, as this node estimates it. */
  readonly now: () => Instant;
  /** Called with notices at their time. */
  readonly onDue: (notices: readonly TimedLaneNotice[]) => void;
}

/** This node's clock may be ahead of the database's, which decides. So all lanes of this interval are notified once more after it. */
const repeatMs: DurationMs = 20;

/** Keeps the notices of runs that were queued ahead of their time, until that time. The gateway's full scan finds the runs of a lost notice within a second. */
export class TimedWakeups {
  readonly #options: TimedWakeupsOptions;
  readonly #wheel: TimingWheel<TimedLaneNotice>;
  #delivered: TimedLaneNotice[] = [];
  #repeatAt: Instant = Number.POSITIVE_INFINITY;
  #timer: unknown = null;
  #timerAt: Instant = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: TimedWakeupsOptions) {
    this.#options = options;
    this.#wheel = new TimingWheel({ startMs: options.now() });
  }

  add(notices: readonly TimedLaneNotice[]): void {
    for (const notice of notices) this.#wheel.insert(notice.at, notice);
    this.#deliver();
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  #deliver(): void {
    const { now, onDue } = this.#options;
    const at = now();
    const isRepeat = at >= this.#repeatAt;
    const repeated = isRepeat ? this.#delivered : [];
    const due = this.#wheel.advance(at);
    this.#delivered = isRepeat ? due : this.#delivered.concat(due);
    if (isRepeat) this.#repeatAt = Number.POSITIVE_INFINITY;
    if (due.length > 0) this.#repeatAt = Math.min(this.#repeatAt, at + repeatMs);
    if (due.length + repeated.length > 0) onDue(repeated.concat(due));
    this.#schedule(at);
  }

  #schedule(now: Instant): void {
    const { timers } = this.#options;
    const next = this.#wheel.nextDue();
    const at = Math.min(next === -1 ? Number.POSITIVE_INFINITY : next, this.#repeatAt);
    if (at === this.#timerAt || this.#isStopped) return;
    timers.clearTimeout(this.#timer);
    this.#timerAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = timers.setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.#deliver();
      },
      Math.max(1, at - now),
    );
  }
}
