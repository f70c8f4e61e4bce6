import {
  type ActiveWindow,
  type CompiledSchedule,
  type FiringPolicy,
  type Instant,
  LAST_INSTANT,
} from "@carillon/core";

/** A job whose next occurrence is due, with all that decides over it except its live runs. */
export interface DueFacts {
  readonly nominal: Instant;
  readonly schedule: CompiledSchedule;
  readonly policy: FiringPolicy;
  /** Occurrences up to here are fired however late they are. */
  readonly catchUpTo: Instant | null;
  /** The maintenance window that decides over a fire at this instant. */
  readonly windowAt: (instant: Instant) => ActiveWindow | null;
}

export interface NextTime {
  readonly nominal: Instant;
  readonly fireAt: Instant;
}

export type PassReason = "missed" | "window";

/** fire: make a run of it. pass: occurrences up to `through` go to the ledger. hold: it waits for the end of a window. */
export type DuePlan =
  | { readonly kind: "fire"; readonly next: NextTime | null }
  | {
      readonly kind: "pass";
      readonly through: Instant;
      readonly count: number;
      readonly reason: PassReason;
      readonly detail: string | null;
      readonly next: NextTime | null;
    }
  | { readonly kind: "hold"; readonly until: Instant };

/**
 * What to do with the next occurrence of a job, which is due. Pure: the scheduler and every change of a job ask this one
 * function. One step: after a pass, what is next may be due as well and is planned in its turn.
 */
export function planDue(facts: DueFacts, now: Instant): DuePlan {
  const { nominal, schedule, policy, catchUpTo } = facts;
  if (catchUpTo !== null && nominal <= catchUpTo) return { kind: "fire", next: pacedNext(facts, now) };
  const fireAt = nominal + schedule.jitterAt(nominal);
  const active = facts.windowAt(fireAt);
  if (active?.window.mode === "skip") return passWindow(facts, active, now);
  if (active !== null && now < active.until) return { kind: "hold", until: active.until };
  const isHeld = active !== null;
  if (!isHeld && now - fireAt <= policy.misfireThresholdMs) return { kind: "fire", next: nextAfter(schedule, nominal) };
  return planLate(facts, now, active);
}

function planLate(facts: DueFacts, now: Instant, held: ActiveWindow | null): DuePlan {
  const { nominal, schedule, policy } = facts;
  const why = held === null ? missed : { reason: "window" as const, detail: held.window.name };
  const oldest = now - policy.catchupWindowMs;
  if (policy.misfire === "run_all") {
    const first = Math.max(oldest, oldestOfLatest(schedule, now, policy.catchupMost));
    if (nominal >= first) return { kind: "fire", next: pacedNext(facts, now) };
    return passUntil(facts, schedule.nextNominal(first - 1), why);
  }
  if (policy.misfire === "skip" && held === null) {
    return passUntil(facts, firstFireableAfter(schedule, now - policy.misfireThresholdMs), why);
  }
  const latest = latestDue(schedule, now);
  if (latest < oldest) return passUntil(facts, schedule.nextNominal(Math.max(latest, nominal)), why);
  if (latest <= nominal) return { kind: "fire", next: nextAfter(schedule, nominal) };
  return passUntil(facts, latest, why);
}

interface Why {
  readonly reason: PassReason;
  readonly detail: string | null;
}

const missed: Why = { reason: "missed", detail: null };

/** Everything from the due occurrence to the one before `next` goes to the ledger; -1 stands for none left. */
function passUntil({ nominal, schedule }: DueFacts, next: Instant, { reason, detail }: Why): DuePlan {
  const end = next === -1 ? LAST_INSTANT : next;
  const through = Math.max(nominal, schedule.previousNominal(end));
  const count = 1 + countBetween(schedule, nominal, through + 1);
  return { kind: "pass", through, count, reason, detail, next: next === -1 ? null : timeOf(schedule, next) };
}

/** What is due by now inside a window that skips; what is not due yet is passed over at its own time. */
function passWindow(facts: DueFacts, { window, until }: ActiveWindow, now: Instant): DuePlan {
  const { nominal, schedule } = facts;
  const last = schedule.previousNominal(Math.min(until, now + 1));
  const next = schedule.nextNominal(Math.max(nominal, last));
  return passUntil(facts, next, { reason: "window", detail: window.name });
}

/** The latest occurrence whose time, jitter included, has come; -1 when there is none. */
function latestDue(schedule: CompiledSchedule, now: Instant): Instant {
  let latest = schedule.previousNominal(now + 1);
  while (latest !== -1 && latest + schedule.jitterAt(latest) > now) latest = schedule.previousNominal(latest);
  return latest;
}

/** The first occurrence that fires at or after an instant, jitter included. */
function firstFireableAfter(schedule: CompiledSchedule, from: Instant): Instant {
  const before = schedule.previousNominal(from);
  if (before !== -1 && before + schedule.jitterAt(before) >= from) return before;
  return schedule.nextNominal(from - 1);
}

function oldestOfLatest(schedule: CompiledSchedule, now: Instant, most: number): Instant {
  let oldest = now + 1;
  for (let count = 0; count < most; count += 1) {
    const earlier = schedule.previousNominal(oldest);
    if (earlier === -1) return oldest;
    oldest = earlier;
  }
  return oldest;
}

/** The next occurrence, not sooner than the rate of catching up allows. */
function pacedNext({ nominal, schedule, policy }: DueFacts, now: Instant): NextTime | null {
  const next = nextAfter(schedule, nominal);
  if (next === null) return null;
  const paceMs = Math.ceil(1_000 / policy.catchupPerSecond);
  return next.fireAt > now ? next : { ...next, fireAt: Math.max(next.fireAt, now + paceMs) };
}

export function nextAfter(schedule: CompiledSchedule, nominal: Instant): NextTime | null {
  const next = schedule.nextNominal(nominal);
  return next === -1 ? null : timeOf(schedule, next);
}

function timeOf(schedule: CompiledSchedule, nominal: Instant): NextTime {
  return { nominal, fireAt: nominal + schedule.jitterAt(nominal) };
}

function countBetween(schedule: CompiledSchedule, after: Instant, before: Instant): number {
  let count = 0;
  for (let at = schedule.nextNominal(after); at !== -1 && at < before; at = schedule.nextNominal(at)) count += 1;
  return count;
}
