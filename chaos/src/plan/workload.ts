import type { Change, ChaosJob, Misfire, Missed, OverlapPolicy, PlannedChange, PlannedJob, Rule } from "./job.js";
import type { SeededRandom } from "./random.js";
import type { ChaosWindow } from "./constraints.js";

export interface WorkloadBounds {
  readonly loadMs: number;
  readonly recurring: number;
  readonly windows: readonly ChaosWindow[];
}

const crons = ["*/2 * * * * *", "*/5 * * * * *", "1/3 * * * * *", "*/7 * * * * *", "0,13,26,40 * * * * *", "* * * * *"];
const zones = ["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
const shortPeriods = [1_000, 1_500, 2_000];
const periods = [1_000, 2_000, 2_500, 3_000, 4_000, 7_000];
/** Assigned in turn, so that every plan has all policies. */
const overlaps: readonly OverlapPolicy[] = [
  ...(["allow", "allow", "allow", "allow", "skip", "skip"] as const),
  ...(["queue_one", "queue_one", "queue_all", "cancel_running", "cancel_running"] as const),
];
const misfires: readonly Misfire[] = [
  { policy: "run_once", thresholdMs: 60_000 },
  { policy: "run_once", thresholdMs: 60_000 },
  { policy: "run_once", thresholdMs: 2_000 },
  { policy: "skip", thresholdMs: 2_000 },
  { policy: "run_all", thresholdMs: 2_000 },
];
const oneOffEveryMs = 400;
/** One-off jobs this far ahead are stored as far-future runs: one in `farEvery`, if the load is long enough. */
const farAheadMs = 660_000;
const farEvery = 10;
/** Jobs that are due at the same instant and created within this time before it. */
const herd = 40;
const herdWithinMs = 6_000;

/**
 * Plans recurring jobs, half of them from the start and many with changes; one-off jobs throughout the load, some moved
 * or cancelled; and a herd of one-off jobs. Nothing is due after the end of the load.
 */
export function planWorkload(random: SeededRandom, bounds: WorkloadBounds): PlannedJob[] {
  const { loadMs, recurring } = bounds;
  const planned: PlannedJob[] = [];
  for (const [index, overlap] of shuffledOverlaps(random, recurring).entries()) {
    if (index % 5 === 2 || index % 10 === 4)
      planned.push(constrainedJob(random, { index, overlap, endsAt: loadMs }, bounds));
    else {
      const createAtMs = index * 2 < recurring ? 0 : random.between(0, Math.floor(loadMs / 2));
      const job = recurringJob(random, { index, overlap, endsAt: loadMs });
      planned.push({ createAtMs, job, ...planChanges(random, job.rule, { createAtMs, loadMs }) });
    }
  }
  for (let createAtMs = 0, index = 0; createAtMs < loadMs - 1_000; createAtMs += oneOffEveryMs, index++) {
    const isFar = index % farEvery === 0 && createAtMs + farAheadMs < loadMs;
    const at = Math.min(createAtMs + random.between(200, 15_000) + (isFar ? farAheadMs : 0), loadMs);
    const changes = planOneOffChange(random, at, { createAtMs, loadMs });
    planned.push({ createAtMs, job: oneOff(random, `once-${index}`, at), changes, runNowAtMs: [] });
  }
  const at = Math.round(loadMs / 2_000) * 1_000;
  for (let index = 0; index < herd; index++) {
    const createAtMs = at - random.between(500, herdWithinMs);
    planned.push({ createAtMs, job: oneOff(random, `herd-${index}`, at), changes: [], runNowAtMs: [] });
  }
  return planned.sort((a, b) => a.createAtMs - b.createAtMs);
}

const oneOff = (random: SeededRandom, key: string, at: number): ChaosJob => ({
  ...work(random),
  ...defaultPolicies,
  key,
  rule: { kind: "at", at },
});

/** A job from the start with a window or the calendar, alternating. */
function constrainedJob(random: SeededRandom, slot: JobSlot, { windows }: WorkloadBounds): PlannedJob {
  const planned = { createAtMs: 0, changes: [], runNowAtMs: [] };
  const { index, endsAt } = slot;
  if (index % 5 === 2) {
    const window = windows[Math.floor(index / 5) % windows.length] ?? null;
    return { ...planned, job: { ...recurringJob(random, slot), window } };
  }
  const rule = everyRule(random, endsAt);
  return { ...planned, job: { ...recurringJob(random, slot), key: `calendar-${index}`, rule, excludesCalendar: true } };
}

/** One policy per job, in a drawn order. */
function shuffledOverlaps(random: SeededRandom, recurring: number): OverlapPolicy[] {
  return random.shuffle(Array.from({ length: recurring }, (_, index) => overlaps[index % overlaps.length] ?? "allow"));
}

interface JobSlot {
  readonly index: number;
  readonly overlap: OverlapPolicy;
  readonly endsAt: number;
}

function recurringJob(random: SeededRandom, { index, overlap, endsAt }: JobSlot): ChaosJob {
  const own = { ...unconstrained, overlap, misfire: random.pick(misfires), ...workOf(random, overlap) };
  if (overlap === "cancel_running")
    return { ...own, key: `every-${index}`, rule: everyRule(random, endsAt, shortPeriods) };
  if (random.next() < 0.5) {
    const rule: Rule = { kind: "cron", cron: random.pick(crons), timeZone: random.pick(zones), endsAt };
    return { ...own, key: `cron-${index}`, rule };
  }
  return { ...own, key: `every-${index}`, rule: everyRule(random, endsAt) };
}

function everyRule(random: SeededRandom, endsAt: number, among: readonly number[] = periods): Rule {
  const startsAt = random.between(-60, 10) * 1_000 + random.between(0, 999);
  return { kind: "every", everyMs: random.pick(among), startsAt, endsAt };
}

const unconstrained = { window: null, excludesCalendar: false } as const;
const defaultPolicies = {
  ...unconstrained,
  overlap: "skip",
  misfire: { policy: "run_once", thresholdMs: 60_000 },
} as const;

/** With queue_all, a run must end before the next occurrence; with cancel_running, it must still work then. */
function workOf(random: SeededRandom, overlap: OverlapPolicy): Pick<ChaosJob, "workMs" | "failsFirst"> {
  if (overlap === "queue_all") return { workMs: random.between(0, 250), failsFirst: false };
  const drawn = work(random);
  return overlap === "cancel_running" ? { ...drawn, workMs: random.between(4_000, 6_500) } : drawn;
}

/**
 * Most work is long enough to be rescued and still running elsewhere when its first worker wakes; the rest is short.
 */
function work(random: SeededRandom): Pick<ChaosJob, "workMs" | "failsFirst"> {
  const workMs = random.next() < 0.4 ? random.between(0, 400) : random.between(2_500, 5_000);
  return { workMs, failsFirst: random.next() < 0.05 };
}

/** When the job is created and when the load ends, counted from the start of the load. */
interface ChangeBounds {
  readonly createAtMs: number;
  readonly loadMs: number;
}

/** The time between two changes, in which an unanswered call is repeated. */
const gapMs: readonly [number, number] = [3_000, 15_000];
/** No changes this close to the end of the load. */
const quietMs = 5_000;
const otherCrons = ["*/4 * * * * *", "*/3 * * * * *", "*/10 * * * * *", "1/2 * * * * *"];
const missed: readonly Missed[] = ["none", "latest", "all"];
/** The changes of a job, in order; one sequence is drawn. */
const changeSequences: readonly (readonly Change["kind"][])[] = [
  [],
  [],
  ["pause", "resume", "pause", "resume"],
  ["pause", "resume", "edit"],
  ["edit", "edit", "edit"],
  ["edit", "pause", "resume"],
  ["edit", "cancel"],
  ["pause", "cancel"],
];

function planChanges(
  random: SeededRandom,
  rule: Rule,
  { createAtMs, loadMs }: ChangeBounds,
): { changes: PlannedChange[]; runNowAtMs: number[] } {
  const changes: PlannedChange[] = [];
  let now = createAtMs;
  let inForce = rule;
  for (const kind of random.pick(changeSequences)) {
    now = alignToFire(random, now + random.between(...gapMs), inForce);
    if (now > loadMs - quietMs) break;
    const change = drawChange(random, kind, { rule: inForce, now });
    changes.push({ atMs: now, change });
    if (change.kind === "edit") inForce = change.rule;
    // The pause ends at its time, so the following resume arrives after it, or at the same moment.
    if (change.kind === "pause" && change.until !== null) now = change.until;
  }
  const runNowAtMs = random.next() < 0.25 ? [random.between(createAtMs + 1_000, loadMs - quietMs)] : [];
  return { changes, runNowAtMs };
}

/** Some one-off jobs are cancelled and some are moved to a later time: before, at or after their time. */
function planOneOffChange(random: SeededRandom, at: number, { createAtMs, loadMs }: ChangeBounds): PlannedChange[] {
  const chance = random.next();
  const atMs = random.next() < 0.5 ? at + random.between(-20, 20) : random.between(createAtMs, at);
  if (chance > 0.12 || atMs < createAtMs || atMs > loadMs - quietMs) return [];
  if (chance < 0.06) return [{ atMs, change: { kind: "cancel", running: random.pick(["signal", "keep"]) } }];
  return [{ atMs, change: { kind: "edit", rule: { kind: "at", at: loadMs } } }];
}

/** Moves about every other change to within milliseconds of an occurrence. */
function alignToFire(random: SeededRandom, at: number, rule: Rule): number {
  if (random.next() < 0.5) return at;
  const [everyMs, startsAt] = rule.kind === "every" ? [rule.everyMs, rule.startsAt] : [1_000, 0];
  return startsAt + Math.ceil((at - startsAt) / everyMs) * everyMs + random.between(-8, 8);
}

function drawChange(random: SeededRandom, kind: Change["kind"], { rule, now }: { rule: Rule; now: number }): Change {
  if (kind === "edit") return { kind, rule: otherRule(random, rule) };
  if (kind === "cancel") return { kind, running: random.pick(["signal", "keep"]) };
  if (kind === "resume") return { kind, missed: random.pick(missed) };
  const until = random.next() < 0.3 ? now + random.between(2_000, 8_000) : null;
  return { kind, until, missed: random.pick(missed) };
}

/**
 * Mostly a rule whose occurrences are among those of the present rule, so that a stale wheel entry may look correct.
 */
function otherRule(random: SeededRandom, rule: Rule): Rule {
  if (rule.kind === "cron") return { ...rule, cron: random.pick(otherCrons) };
  if (rule.kind === "at" || rule.kind === "never") return rule;
  if (random.next() < 0.75) return { ...rule, everyMs: rule.everyMs < 4_000 ? rule.everyMs * 2 : rule.everyMs / 2 };
  return { ...rule, everyMs: random.pick([1_500, 2_000, 3_500]), startsAt: rule.startsAt + random.between(0, 999) };
}
