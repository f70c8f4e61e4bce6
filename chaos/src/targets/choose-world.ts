import type { Life } from "./life.js";
import type { Target } from "./target.js";
import { type Effects, ruleInstants, targetsIn } from "./targets-in.js";

/** More worlds than this are not looked at: the best so far counts. */
const mostWorlds = 20_000;
const justBeforeMs = 0.5;

/**
 * A change takes effect at one instant between its request and its answer, which nobody outside can know. Each such instant
 * makes a world with targets of its own: old or new, never both, never neither. The one that fits best what was seen is
 * taken; if none fits, whatever is wrong in it is wrong.
 */
export function chooseWorld(life: Life, flawsIn: (targets: readonly Target[]) => number): Target[] {
  const instants = ruleInstants(life);
  let best: { targets: Target[]; flaws: number } | null = null;
  let looked = 0;
  for (const effects of effectsOf(life, instants)) {
    const targets = targetsIn(life, effects, instants);
    const flaws = flawsIn(targets);
    if (best === null || flaws < best.flaws) best = { targets, flaws };
    looked += 1;
    if (best.flaws === 0 || looked >= mostWorlds) break;
  }
  return best?.targets ?? [];
}

/** Every order of effects and occurrences that the bounds allow. */
function* effectsOf(life: Life, instants: readonly (readonly number[])[]): Generator<Effects> {
  const all = [...new Set(instants.flat())].sort((a, b) => a - b);
  const candidates = life.changes.map(({ sentAt, settledAt }, index) => {
    const inside = all.filter((at) => at >= sentAt && at <= (settledAt ?? Number.POSITIVE_INFINITY));
    const at: (number | null)[] = [sentAt - justBeforeMs, ...inside];
    // A pause that ends by itself never does if another change comes first.
    const next = life.changes[index + 1];
    const mayNever = settledAt === null || (next !== undefined && next.sentAt <= settledAt);
    return mayNever ? [...at, null] : at;
  });
  yield* combinations(candidates, Number.NEGATIVE_INFINITY);
}

/** One of each, never going back in time. */
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
