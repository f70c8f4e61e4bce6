import { bruteForceFires } from "../../../packages/core/test/oracle/brute-force-fires.js";
import type { Missed, Rule } from "../plan/job.js";
import { isInside } from "../plan/constraints.js";
import type { JobHistory } from "./job-history.js";

/** What must happen to one instant of a job. */
export interface Target {
  readonly job: string;
  readonly nominal: number;
  /** False if the instant is between request and answer of the job's creation, or the creation was never answered. */
  readonly required: boolean;
  /** paused, window: the end of a pause or a window left the instant out; the ledger has it and nothing ran. */
  readonly fate: "run" | "paused" | "window";
  /** Whether it fires after a pause or a window, so that its lateness says nothing. */
  readonly isLate: boolean;
}

/** Every instant of a rule from an instant on, in order, computed without any code of the engine. */
export function instantsOf(rule: Rule, from: number): number[] {
  if (rule.kind === "never") return [];
  if (rule.kind === "at") return rule.at >= from ? [rule.at] : [];
  if (rule.kind === "cron") {
    return bruteForceFires({ expression: rule.cron, timeZone: rule.timeZone }, from - 1, rule.endsAt);
  }
  const instants: number[] = [];
  for (let at = rule.startsAt; at <= rule.endsAt; at += rule.everyMs) if (at >= from) instants.push(at);
  return instants;
}

/** When each change of a history took effect; null if it never did. The old rule still applies to instants up to then. */
export type Effects = readonly (number | null)[];

type Instants = readonly number[];
const forEver = Number.POSITIVE_INFINITY;

/** The instants of each rule of a history: of the first rule, then one list per change, empty unless it is an edit. */
function ruleInstants({ job, sentAt, changes }: JobHistory): readonly Instants[] {
  // A one-off job also runs if its time had passed before it was requested.
  const first = instantsOf(job.rule, job.rule.kind === "at" ? Number.NEGATIVE_INFINITY : sentAt);
  return [first, ...changes.map(({ change }) => (change.kind === "edit" ? instantsOf(change.rule, sentAt) : []))];
}

/** The targets that the acknowledged requests promise if their changes took effect at these instants. */
export function targetsIn(history: JobHistory, effects: Effects, instants = ruleInstants(history)): Target[] {
  const targets: Target[] = [];
  const { key, rule, window } = history.job;
  const acknowledgedAt = history.acknowledgedAt ?? forEver;
  const isRequired = (nominal: number): boolean =>
    nominal > acknowledgedAt || (rule.kind === "at" && history.acknowledgedAt !== null);
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
  for (const [index, { change }] of history.changes.entries()) {
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

/** The search stops after this many timelines and takes the best so far. */
const maxTimelines = 20_000;
const justBeforeMs = 0.5;

/**
 * A change takes effect at one instant between its request and its answer, which no caller can know. Each such instant
 * gives a timeline with its own targets: old or new, never both, never neither. This chooses the timeline with the
 * fewest flaws; if every timeline has flaws, the flaws of the best one are violations.
 */
export function chooseTimeline(history: JobHistory, flawsIn: (targets: readonly Target[]) => number): Target[] {
  const instants = ruleInstants(history);
  let best: { targets: Target[]; flaws: number } | null = null;
  let tried = 0;
  for (const effects of possibleEffects(history, instants)) {
    const targets = targetsIn(history, effects, instants);
    const flaws = flawsIn(targets);
    if (best === null || flaws < best.flaws) best = { targets, flaws };
    tried += 1;
    if (best.flaws === 0 || tried >= maxTimelines) break;
  }
  return best?.targets ?? [];
}

/** Every order of effects and occurrences that the bounds allow. */
function* possibleEffects(history: JobHistory, instants: readonly (readonly number[])[]): Generator<Effects> {
  const all = [...new Set(instants.flat())].sort((a, b) => a - b);
  const candidates = history.changes.map(({ sentAt, settledAt }, index) => {
    const inside = all.filter((at) => at >= sentAt && at <= (settledAt ?? Number.POSITIVE_INFINITY));
    const at: (number | null)[] = [sentAt - justBeforeMs, ...inside];
    // A pause does not end at its time if another change takes effect first.
    const next = history.changes[index + 1];
    const mayNever = settledAt === null || (next !== undefined && next.sentAt <= settledAt);
    return mayNever ? [...at, null] : at;
  });
  yield* combinations(candidates, Number.NEGATIVE_INFINITY);
}

/** One effect per change, never going back in time. */
function* combinations(candidates: readonly Effects[], from: number): Generator<Effects> {
  const [first, ...rest] = candidates;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const effect of first) {
    if (effect !== null && effect < from) continue;
    for (const others of combinations(rest, effect ?? from)) yield [effect, ...others];
  }
}
