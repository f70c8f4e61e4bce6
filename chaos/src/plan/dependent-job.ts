import type { Missed, PlannedJob } from "./job.js";
import type { SeededRandom } from "./random.js";

/** Which ends of upstream runs start the job. */
export type AwaitedEnd = "success" | "finish";

/** A change of a dependent job. An edit changes which ends count from now on. */
export type DependentChange =
  | { readonly kind: "pause"; readonly until: null; readonly missed: Missed }
  | { readonly kind: "resume"; readonly missed: Missed }
  | { readonly kind: "edit"; readonly on: AwaitedEnd };

export interface PlannedDependentChange {
  readonly atMs: number;
  readonly change: DependentChange;
}

/** A job that starts after other jobs. */
export interface DependentJob {
  readonly key: string;
  /** The keys of the jobs whose ends start it. */
  readonly upstream: readonly string[];
  /** `any`: each end starts a run; `all`: one end of each job together starts a run. */
  readonly mode: "any" | "all";
  readonly on: AwaitedEnd;
  readonly workMs: number;
  readonly changes: readonly PlannedDependentChange[];
}

const fromRecurring = 6;
/** Short, so that most dependent runs end before the load does. */
const maxWorkMs = 400;
/** Long enough for at least one upstream run to end during the pause. */
const pauseMs: readonly [number, number] = [8_000, 14_000];

/**
 * Plans jobs after recurring jobs that exist from the start and are never cancelled: one after each of them, one after
 * either of two, one after both together, and one after another dependent job. Each is created as soon as its upstream
 * jobs exist. Three are paused and resumed, with each choice for the ends during the pause; one is edited.
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
