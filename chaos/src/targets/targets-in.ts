import type { Missed } from "../plan/change.js";
import { isInside } from "../plan/surroundings.js";
import { instantsOf } from "./instants.js";
import type { Life } from "./life.js";
import type { Target } from "./target.js";

/** When each change of a life took effect; null for one that never did. What is due by then is still under the old rule. */
export type Effects = readonly (number | null)[];

type Instants = readonly number[];
const forEver = Number.POSITIVE_INFINITY;

/** The instants of every rule that a life has had, by its place: the first, then one for each edit, else an empty list. */
export function ruleInstants({ job, sentAt, changes }: Life): readonly Instants[] {
  // A one-off job runs also when its time had passed before it was asked for.
  const first = instantsOf(job.rule, job.rule.kind === "at" ? Number.NEGATIVE_INFINITY : sentAt);
  return [first, ...changes.map(({ change }) => (change.kind === "edit" ? instantsOf(change.rule, sentAt) : []))];
}

/** What the acknowledged requests promise if their changes took effect at these instants. */
export function targetsIn(life: Life, effects: Effects, instants = ruleInstants(life)): Target[] {
  const targets: Target[] = [];
  const { key, rule, window } = life.job;
  const acknowledgedAt = life.acknowledgedAt ?? forEver;
  const isRequired = (nominal: number): boolean =>
    nominal > acknowledgedAt || (rule.kind === "at" && life.acknowledgedAt !== null);
  const add = (nominals: Instants, fate: Target["fate"], isLate = false): void => {
    for (const nominal of nominals) {
      const target = { job: key, nominal, required: isRequired(nominal), fate, isLate };
      if (!isInside(window, nominal)) targets.push(target);
      else targets.push({ ...target, fate: window.mode === "skip" ? "window" : fate, isLate: true });
    }
  };

  let inForce = instants[0] ?? [];
  let from = Number.NEGATIVE_INFINITY;
  let isPaused = false;
  for (const [index, { change }] of life.changes.entries()) {
    const effect = effects[index] ?? null;
    if (effect === null || (change.kind === "resume" && !isPaused) || (change.kind === "pause" && isPaused)) continue;
    const before = inForce.filter((at) => at > from && at <= effect);
    if (!isPaused) add(before, "run");
    else if (change.kind === "resume") {
      const { left, fired } = settlePause(before, change.missed);
      add(left, "paused");
      add(fired, "run", true);
    }
    from = effect;
    isPaused = change.kind === "pause";
    if (change.kind === "edit") inForce = instants[index + 1] ?? [];
    if (change.kind === "cancel") inForce = [];
  }
  if (!isPaused)
    add(
      inForce.filter((at) => at > from),
      "run",
    );
  return targets;
}

function settlePause(inside: Instants, missed: Missed): { left: Instants; fired: Instants } {
  if (missed === "all") return { left: [], fired: inside };
  return missed === "none" ? { left: inside, fired: [] } : { left: inside.slice(0, -1), fired: inside.slice(-1) };
}
