import type { Instant } from "@carillon/core";
import type { PromotedRun, Queued } from "@carillon/store";
import type { TimedHint } from "./timed-wakeups.js";

/** What concerns every node. */
export const channel = "carillon_hint";
/** Runs that workers may get: only nodes that serve some listen. A node that is not woken by every run leaves the processor to others. */
export const laneChannel = "carillon_lane";

/** NOTIFY takes less than 8,000 bytes. */
const hintsPerText = 120;

/** From which rank on a lane is to be looked at. */
export type LaneHint = Omit<Queued, "id">;

/** The lowest rank in each lane of each namespace. */
export function lowestOf(runs: readonly LaneHint[]): readonly LaneHint[] {
  if (runs.length === 1) return runs;
  const lowest = new Map<string, LaneHint>();
  let last: LaneHint | undefined;
  for (const run of runs) {
    if (run.lane === last?.lane && run.namespaceId === last.namespaceId && run.rank >= last.rank) continue;
    keepLowest(lowest, run);
    last = run;
  }
  return [...lowest.values()];
}

export function keepLowest(lowest: Map<string, LaneHint>, hint: LaneHint): void {
  const key = `${hint.lane} ${hint.namespaceId ?? ""}`;
  const before = lowest.get(key);
  if (before === undefined || hint.rank < before.rank) lowest.set(key, hint);
}

/** The lowest rank in each lane of each namespace, for each time from which runs are claimable. */
export function byTime(runs: readonly PromotedRun[]): readonly TimedHint[] {
  const groups = new Map<Instant, PromotedRun[]>();
  for (const run of runs) {
    const group = groups.get(run.runAt);
    if (group === undefined) groups.set(run.runAt, [run]);
    else group.push(run);
  }
  return [...groups].flatMap(([at, group]) => lowestOf(group).map((hint) => ({ ...hint, at })));
}

export function textsOf(word: string, hints: readonly (LaneHint & Partial<TimedHint>)[]): string[] {
  const texts: string[] = [];
  for (let first = 0; first < hints.length; first += hintsPerText) {
    texts.push(
      `${word} ${hints
        .slice(first, first + hintsPerText)
        .map(textOf)
        .join(",")}`,
    );
  }
  return texts;
}

const textOf = ({ lane, rank, namespaceId, at }: LaneHint & Partial<TimedHint>): string =>
  [lane, rank, namespaceId, at].join(":").replace(/:+$/, "");

export function toLaneHint(text: string): LaneHint {
  const [lane = "", rank = "", namespaceId = ""] = text.split(":", 3);
  return { lane: Number(lane), rank: Number(rank), ...(namespaceId !== "" && { namespaceId: Number(namespaceId) }) };
}

export function toTimedHint(text: string): TimedHint {
  return { ...toLaneHint(text), at: Number(text.split(":", 4)[3] ?? 0) };
}
