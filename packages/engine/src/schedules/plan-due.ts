import type { ActiveWindow, CompiledSchedule, FiringPolicy, Instant } from "@carillon/core";
import type { NextTime } from "@carillon/store";

/** A job whose next occurrence is due, with all that decides about it except its live runs. */
export interface DueFacts {
  readonly nominal: Instant;
  readonly schedule: CompiledSchedule;
  readonly policy: FiringPolicy;
  /** Occurrences up to here are fired however late they are. */
  readonly catchUpTo: Instant | null;
  /** The maintenance window that covers a fire at this instant. */
  readonly windowAt: (instant: Instant) => ActiveWindow | null;
}

export type PassReason = "missed" | "window";

/**
 * fire: make a run of it. pass: occurrences up to `through` go to the ledger. hold: it waits, usually for the end of a window. `catchUpTo` is
 * new and must be stored with the job; null: the stored value stays.
 */
export type DuePlan =
  | { readonly kind: "fire"; readonly next: NextTime | null; readonly catchUpTo: Instant | null }
  | {
      readonly kind: "pass";
      readonly through: Instant;
      readonly count: number;
      readonly reason: PassReason;
      readonly detail: string | null;
      readonly next: NextTime | null;
      readonly catchUpTo: Instant | null;
    }
  | { readonly kind: "hold"; readonly until: Instant };

/** How many occurrences inside skipping windows are passed over in search of the latest that may fire. */
const maxSkipped = 1_000;

/**
 * Decides about the next occurrence of a job, which is due. Pure: the scheduler and every change of a job call this one function. One step:
 * after a pass, the next occurrence may be due as well and is planned in its turn.
 *
 * A skipping window drops occurrences that are due inside it. While any window is open nothing fires: occurrences due before it wait.
 */
export function planDue(facts: DueFacts, now: Instant): DuePlan {
  const { nominal, schedule, policy, catchUpTo, windowAt } = facts;
  const fireAt = nominal + schedule.jitterAt(nominal);
  if (now < fireAt) return { kind: "hold", until: fireAt };
  const own = windowAt(fireAt);
  if (own?.window.mode === "skip") {
    const through = Math.max(nominal, latestDue(schedule, Math.min(own.end - 1, now)));
    return passThrough(facts, through, because(own));
  }
  // Adjacent windows have one end, which is computed as of now: all jobs that are due at once share the answer.
  const open = windowAt(now);
  if (open !== null) return { kind: "hold", until: open.until };
  if (catchUpTo !== null && nominal <= catchUpTo) return fire(pacedNext(facts, now));
  if (own === null && now - fireAt <= policy.misfireThresholdMs) return fire(nextAfter(schedule, nominal));
  const latest = Math.max(nominal, latestDue(schedule, now));
  if (policy.misfire === "run_all") return planAll(facts, { now, latest, held: own });
  if (policy.misfire === "run_once" || own !== null) return planLatest(facts, { now, latest, held: own });
  return passThrough(facts, Math.max(nominal, latestDue(schedule, now - policy.misfireThresholdMs - 1)), missed);
}

interface Late {
  readonly now: Instant;
  /** The latest occurrence that is due. */
  readonly latest: Instant;
  /** The window that the occurrence waited for, over by now. */
  readonly held: ActiveWindow | null;
}

/** run_all: the latest ones, as many as the policy says, each in its turn; older ones go to the ledger. */
function planAll(facts: DueFacts, { now, latest, held }: Late): DuePlan {
  const { nominal, schedule, policy } = facts;
  const oldest = Math.max(now - policy.catchupWindowMs, oldestOfLatest(facts, latest));
  if (nominal >= oldest) return { ...fire(pacedNext(facts, now)), catchUpTo: latest };
  const through = Math.max(nominal, Math.min(latest, schedule.previousNominal(oldest)));
  return { ...passThrough(facts, through, held === null ? missed : because(held)), catchUpTo: latest };
}

/** run_once: the latest that no window drops, unless it is too old; the others go to the ledger. */
function planLatest(facts: DueFacts, { now, latest, held }: Late): DuePlan {
  const { nominal, schedule, policy } = facts;
  const chosen = latestFireable(facts, latest);
  const isTooOld = chosen < now - policy.catchupWindowMs;
  if (!isTooOld && chosen === nominal) return fire(nextAfter(schedule, nominal));
  const last = isTooOld ? latest : Math.max(nominal, schedule.previousNominal(chosen));
  if (held === null) return passThrough(facts, last, missed);
  return passThrough(facts, Math.max(nominal, Math.min(last, latestDue(schedule, held.until - 1))), because(held));
}

interface Why {
  readonly reason: PassReason;
  readonly detail: string | null;
}

const missed: Why = { reason: "missed", detail: null };

function because({ window }: ActiveWindow): Why {
  return { reason: "window", detail: window.name };
}

function fire(next: NextTime | null): DuePlan & { readonly kind: "fire" } {
  return { kind: "fire", next, catchUpTo: null };
}

/** Everything from the due occurrence to `through` goes to the ledger. */
function passThrough({ nominal, schedule }: DueFacts, through: Instant, why: Why): DuePlan & { readonly kind: "pass" } {
  const count = 1 + schedule.countBetween(nominal, through + 1);
  return { kind: "pass", through, count, ...why, next: nextAfter(schedule, through), catchUpTo: null };
}

/** The latest occurrence whose time, jitter included, is not after this instant; -1: there is none. */
export function latestDue(schedule: CompiledSchedule, by: Instant): Instant {
  let latest = schedule.previousNominal(by + 1);
  while (latest !== -1 && latest + schedule.jitterAt(latest) > by) latest = schedule.previousNominal(latest);
  return latest;
}

function latestFireable({ nominal, schedule, windowAt }: DueFacts, latest: Instant): Instant {
  let at = latest;
  for (let count = 0; at > nominal && count < maxSkipped; count += 1) {
    if (windowAt(at + schedule.jitterAt(at))?.window.mode !== "skip") return at;
    at = schedule.previousNominal(at);
  }
  return Math.max(nominal, at);
}

/** The first of the latest occurrences that run_all still fires. */
function oldestOfLatest({ nominal, schedule, policy }: DueFacts, latest: Instant): Instant {
  let oldest = latest;
  for (let count = 1; count < policy.maxCatchupRuns && oldest > nominal; count += 1) {
    oldest = schedule.previousNominal(oldest);
  }
  return oldest;
}

/** The next occurrence, not sooner than the rate of catching up allows. */
function pacedNext({ nominal, schedule, policy }: DueFacts, now: Instant): NextTime | null {
  const next = nextAfter(schedule, nominal);
  if (next === null || next.fireAt > now) return next;
  return { ...next, fireAt: now + Math.ceil(1_000 / policy.catchupPerSecond) };
}

export function nextAfter(schedule: CompiledSchedule, nominal: Instant): NextTime | null {
  const next = schedule.nextNominal(nominal);
  return next === -1 ? null : { nominal: next, fireAt: next + schedule.jitterAt(next) };
}
