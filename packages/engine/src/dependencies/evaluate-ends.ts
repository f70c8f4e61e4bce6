import type { ConditionOutcome } from "@carillon/condition";
import type { Instant } from "@carillon/core";
import type { AwaitedEnd, Dependency, UpstreamEnd } from "@carillon/store";

/** A fire of the waiting job, with the run whose end was the last that it needed. */
export interface AfterFire extends EvaluatedEnd {
  /** All the runs that it needed, in the order of `after`. */
  readonly runIds: readonly string[];
}

interface EvaluatedEnd {
  readonly runId: string;
  readonly endedAt: Instant;
}

/** An end whose condition does not hold. */
export interface UnmetCondition extends EvaluatedEnd {
  readonly why: string;
}

export interface Evaluation {
  readonly fires: readonly AfterFire[];
  readonly unmet: readonly UnmetCondition[];
  /** With the progress after these ends. */
  readonly dependencies: readonly Dependency[];
}

export interface WaitingJob {
  readonly mode: "all" | "any";
  readonly dependencies: readonly Dependency[];
}

type Holds = (when: string, end: UpstreamEnd) => ConditionOutcome;

/**
 * Decides what the ends of upstream runs, in their order, mean for the job that waits for them. `any`: each end that fits is a fire. `all`: of
 * each upstream job the latest run that ended since the last fire counts, and all of these must fit: an end that does not fit revokes an
 * earlier one of the same upstream job. A run that never ran does not count.
 */
export function evaluateEnds(
  { mode, dependencies }: WaitingJob,
  ends: readonly UpstreamEnd[],
  holds: Holds,
): Evaluation {
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
    if (dependency.lastEndAt !== null && endedAt < dependency.lastEndAt) continue;
    const isMet = why === null;
    now.set(end.position, {
      ...dependency,
      lastEndAt: endedAt,
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
