import type { PlannedJob } from "./job.js";
import type { SeededRandom } from "./random.js";

/** A job that starts after others. */
export interface Follower {
  readonly key: string;
  /** The keys of the jobs whose ends start it, each by itself. */
  readonly follows: readonly string[];
  readonly on: "success" | "finish";
  readonly workMs: number;
}

const fromRecurring = 6;
/** Whoever follows must be done with most before the end of the load. */
const longestWorkMs = 400;

/**
 * Some jobs after those that recur from the begin on and are never cancelled, one after two of them, and one after a job that
 * itself comes after another. All are asked for as soon as those they follow are there.
 */
export function planFollowers(random: SeededRandom, workload: readonly PlannedJob[]): Follower[] {
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
    on: index % 2 === 0 ? "finish" : "success",
    workMs: random.between(0, longestWorkMs),
  });
  const single = followed.map((key, index) => follower(`after-${index}`, [key], index));
  return [...single, follower("after-both", [first, second], 0), follower("after-after", [single[0]?.key ?? first], 1)];
}
