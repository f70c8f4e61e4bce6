import type { Missed, PlannedJob } from "./job.js";
import type { SeededRandom } from "./random.js";

/** Which ends count. */
export type AwaitedEnd = "success" | "finish";

/** A change of a job after others. `turn`: other ends count from now on. */
export type DependentChange =
  | { readonly kind: "pause"; readonly until: null; readonly missed: Missed }
  | { readonly kind: "resume"; readonly missed: Missed }
  | { readonly kind: "edit"; readonly on: AwaitedEnd };

export interface PlannedDependentChange {
  readonly atMs: number;
  readonly change: DependentChange;
}

/** A job that starts after others. */
export interface DependentJob {
  readonly key: string;
  /** The keys of the jobs whose ends start it. */
  readonly upstream: readonly string[];
  /** `any`: each by itself; `all`: one of each together. */
  readonly mode: "any" | "all";
  readonly on: AwaitedEnd;
  readonly workMs: number;
  readonly changes: readonly PlannedDependentChange[];
}

const fromRecurring = 6;
/** Whoever upstream must be done with most before the end of the load. */
const maxWorkMs = 400;
/** A pause that is much shorter than this has no end inside for sure. */
const pauseMs: readonly [number, number] = [8_000, 14_000];

/**
 * Some jobs after those that recur from the begin on and are never cancelled, one after each of two of them, one after both together,
 * and one after a job that itself comes after another. All are asked for as soon as those they follow are there. Three are paused
 * and resumed, with each choice of what becomes of the ends meanwhile; one is changed.
 */
export function planDependents(random: SeededRandom, workload: readonly PlannedJob[], loadMs: number): DependentJob[] {
  const lasting = workload.filter(
    ({ job, createAtMs, changes }) =>
      createAtMs === 0 && job.rule.kind !== "at" && changes.every(({ change }) => change.kind !== "cancel"),
  );
  const followed = random.shuffle(lasting.map(({ job }) => job.key)).slice(0, fromRecurring);
  const [first, second] = followed;
  if (first === undefined || second === undefined) return [];
  const dependent = (key: string, upstream: readonly string[], index: number): DependentJob => ({
    key,
    upstream,
    mode: "any",
    on: index % 2 === 0 ? "finish" : "success",
    workMs: random.between(0, maxWorkMs),
    changes: [],
  });
  const single = followed.map((key, index) => dependent(`after-${index}`, [key], index));
  const changes = [[], [], ...planDependentChanges(random, loadMs)];
  return [
    ...single.map((one, index) => ({ ...one, changes: changes[index] ?? [] })),
    dependent("after-either", [first, second], 0),
    { ...dependent("after-both", [first, second], 0), mode: "all" },
    dependent("after-after", [single[0]?.key ?? first], 1),
  ];
}

function planDependentChanges(random: SeededRandom, loadMs: number): PlannedDependentChange[][] {
  const at = (): number => random.between(Math.round(loadMs / 10), Math.round(loadMs / 2));
  const paused = (["all", "none", "latest"] as const).map((missed): PlannedDependentChange[] => {
    const atMs = at();
    return [
      { atMs, change: { kind: "pause", until: null, missed } },
      { atMs: atMs + random.between(...pauseMs), change: { kind: "resume", missed } },
    ];
  });
  return [...paused, [{ atMs: at(), change: { kind: "edit", on: "finish" } }]];
}
