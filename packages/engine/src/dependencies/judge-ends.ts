import type { ConditionOutcome } from "@carillon/condition";
import type { Instant } from "@carillon/core";
import type { AwaitedEnd, Dependency, UpstreamEnd } from "@carillon/store";

/** A job that waited is to be fired; the run whose end was the last that it needed. */
export interface AfterFire extends JudgedEnd {
  /** All the runs that it needed, in the order of `after`. */
  readonly runIds: readonly string[];
}

interface JudgedEnd {
  readonly runId: string;
  readonly endedAt: Instant;
}

/** An end that would have counted, had its condition held. */
export interface UnmetCondition extends JudgedEnd {
  readonly why: string;
}

export interface Judgement {
  readonly fires: readonly AfterFire[];
  readonly unmet: readonly UnmetCondition[];
  /** As they are now. */
  readonly dependencies: readonly Dependency[];
}

export interface Waiting {
  readonly mode: "all" | "any";
  readonly dependencies: readonly Dependency[];
}

type Holds = (when: string, end: UpstreamEnd) => ConditionOutcome;

/**
 * What the ends of upstream runs, in their order, mean for the one job that waits for them. `any`: each that fits is a fire.
 * `all`: of each upstream job the latest run that ended since the last fire counts, and all of these must fit: one that does
 * not fit takes back what an earlier one of the same job met. A run that never ran is no end.
 */
export function judgeEnds({ mode, dependencies }: Waiting, ends: readonly UpstreamEnd[], holds: Holds): Judgement {
  const now = new Map(dependencies.map((one) => [one.position, one]));
  const fires: AfterFire[] = [];
  const unmet: UnmetCondition[] = [];
  for (const end of ends) {
    const dependency = now.get(end.position);
    if (dependency === undefined || end.status === null || end.status === "skipped") continue;
    const { runId, endedAt } = end;
    const why = isAwaited(dependency.on, end.status) ? whyUnmet(dependency, end, holds) : "";
    if (why !== null && why !== "") unmet.push({ runId, endedAt, why });
    if (mode === "any") {
      if (why === null) fires.push({ runId, endedAt, runIds: [runId] });
      continue;
    }
    if (dependency.seenAt !== null && endedAt < dependency.seenAt) continue;
    const isMet = why === null;
    now.set(end.position, {
      ...dependency,
      seenAt: endedAt,
      metRunId: isMet ? runId : null,
      metAt: isMet ? endedAt : null,
    });
    const runIds = [...now.values()].flatMap((one) => one.metRunId ?? []);
    if (runIds.length < now.size) continue;
    fires.push({ runId, endedAt, runIds });
    for (const one of now.values()) now.set(one.position, { ...one, metRunId: null, metAt: null });
  }
  return { fires, unmet, dependencies: [...now.values()] };
}

function isAwaited(on: AwaitedEnd, status: UpstreamEnd["status"]): boolean {
  if (on === "finish") return true;
  return on === "success" ? status === "succeeded" : status === "failed";
}

/** null: the condition holds, or there is none. */
function whyUnmet({ when }: Dependency, end: UpstreamEnd, holds: Holds): string | null {
  if (when === null) return null;
  const outcome = holds(when, end);
  if (!outcome.ok) return `cannot be evaluated: ${outcome.why}`;
  return outcome.holds ? null : "does not hold";
}
