import type { Missed, PlannedJob } from "./job.js";
import type { SeededRandom } from "./random.js";

/** Which ends count. */
export type AwaitedEnd = "success" | "finish";

/** A change of a job after others. `turn`: other ends count from now on. */
export type FollowerChange =
  | { readonly kind: "pause"; readonly until: null; readonly missed: Missed }
  | { readonly kind: "resume"; readonly missed: Missed }
  | { readonly kind: "turn"; readonly on: AwaitedEnd };

export interface PlannedFollowerChange {
  readonly atMs: number;
  readonly change: FollowerChange;
}

/** A job that starts after others. */
export interface Follower {
  readonly key: string;
  /** The keys of the jobs whose ends start it. */
  readonly follows: readonly string[];
  /** `any`: each by itself; `all`: one of each together. */
  readonly mode: "any" | "all";
  readonly on: AwaitedEnd;
  readonly workMs: number;
  readonly changes: readonly PlannedFollowerChange[];
}

const fromRecurring = 6;
/** Whoever follows must be done with most before the end of the load. */
const longestWorkMs = 400;
/** A pause that is much shorter than this has no end inside for sure. */
const pauseMs: readonly [number, number] = [8_000, 14_000];

/**
 * Some jobs after those that recur from the begin on and are never cancelled, one after each of two of them, one after both together,
 * and one after a job that itself comes after another. All are asked for as soon as those they follow are there. Three are paused
 * and resumed, with each choice of what becomes of the ends meanwhile; one is changed.
 */
export function planFollowers(random: SeededRandom, workload: readonly PlannedJob[], loadMs: number): Follower[] {
  const lasting = workload.filter(
    ({ job, createAtMs, changes }) =>
      createAtMs === 0 && job.rule.kind !== "at" && changes.every(({ change }) => change.kind !== "cancel"),
  );
  const followed = random.shuffle(lasting.map(({ job }) => job.key)).slice(0, fromRecurring);
  const [first, second] = followed;
  if (first === undefined || second === undefined) return [];
  const follower = (key: string, follows: readonly string[], index: number): Follower => ({
    key,
    follows,
    mode: "any",
    on: index % 2 === 0 ? "finish" : "success",
    workMs: random.between(0, longestWorkMs),
    changes: [],
  });
  const single = followed.map((key, index) => follower(`after-${index}`, [key], index));
  const changes = [[], [], ...planFollowerChanges(random, loadMs)];
  return [
    ...single.map((one, index) => ({ ...one, changes: changes[index] ?? [] })),
    follower("after-either", [first, second], 0),
    { ...follower("after-both", [first, second], 0), mode: "all" },
    follower("after-after", [single[0]?.key ?? first], 1),
  ];
}

function planFollowerChanges(random: SeededRandom, loadMs: number): PlannedFollowerChange[][] {
  const at = (): number => random.between(Math.round(loadMs / 10), Math.round(loadMs / 2));
  const paused = (["all", "none", "latest"] as const).map((missed): PlannedFollowerChange[] => {
    const atMs = at();
    return [
      { atMs, change: { kind: "pause", until: null, missed } },
      { atMs: atMs + random.between(...pauseMs), change: { kind: "resume", missed } },
    ];
  });
  return [...paused, [{ atMs: at(), change: { kind: "turn", on: "finish" } }]];
}
