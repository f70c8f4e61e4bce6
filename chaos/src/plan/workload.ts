import type { ChaosJob, Misfire, OverlapPolicy, PlannedJob } from "./job.js";
import { planChanges, planOneOffChange } from "./plan-changes.js";
import type { SeededRandom } from "./random.js";
import type { Rule } from "./rule.js";
import type { ChaosWindow } from "./surroundings.js";

export interface WorkloadBounds {
  readonly loadMs: number;
  readonly recurring: number;
  readonly windows: readonly ChaosWindow[];
}

const crons = ["*/2 * * * * *", "*/5 * * * * *", "1/3 * * * * *", "*/7 * * * * *", "0,13,26,40 * * * * *", "* * * * *"];
const zones = ["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
const shortPeriods = [1_000, 1_500, 2_000];
const periods = [1_000, 2_000, 2_500, 3_000, 4_000, 7_000];
/** Dealt out in turn, so that every plan has all of them. */
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
/** One-off jobs this far ahead are stored apart until their time is near: one in so many, where the load is long enough. */
const farAheadMs = 660_000;
const farEvery = 10;
/** Due at the same instant, and asked for within this time before. */
const herd = 40;
const herdWithinMs = 6_000;

/**
 * Recurring jobs, half of them from the begin and many of them changed; one-off jobs all along, some moved or cancelled, and a herd
 * of them. Nothing is due after the end of the load.
 */
export function planWorkload(random: SeededRandom, bounds: WorkloadBounds): PlannedJob[] {
  const { loadMs, recurring } = bounds;
  const planned: PlannedJob[] = [];
  for (const [index, overlap] of deal(random, recurring).entries()) {
    if (index % 5 === 2 || index % 10 === 4)
      planned.push(surroundedJob(random, { index, overlap, endsAt: loadMs }, bounds));
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

/** A job from the begin on that something else than its maker has a say in: every other one a window, or the calendar. */
function surroundedJob(random: SeededRandom, seat: Seat, { windows }: WorkloadBounds): PlannedJob {
  const planned = { createAtMs: 0, changes: [], runNowAtMs: [] };
  const { index, endsAt } = seat;
  if (index % 5 === 2) {
    const window = windows[Math.floor(index / 5) % windows.length] ?? null;
    return { ...planned, job: { ...recurringJob(random, seat), window } };
  }
  const rule = everyRule(random, endsAt);
  return { ...planned, job: { ...recurringJob(random, seat), key: `calendar-${index}`, rule, followsCalendar: true } };
}

/** As many policies as jobs, in any order. */
function deal(random: SeededRandom, recurring: number): OverlapPolicy[] {
  return random.shuffle(Array.from({ length: recurring }, (_, index) => overlaps[index % overlaps.length] ?? "allow"));
}

interface Seat {
  readonly index: number;
  readonly overlap: OverlapPolicy;
  readonly endsAt: number;
}

function recurringJob(random: SeededRandom, { index, overlap, endsAt }: Seat): ChaosJob {
  const own = { ...unsurrounded, overlap, misfire: random.pick(misfires), ...workOf(random, overlap) };
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

const unsurrounded = { window: null, followsCalendar: false } as const;
const defaultPolicies = {
  ...unsurrounded,
  overlap: "skip",
  misfire: { policy: "run_once", thresholdMs: 60_000 },
} as const;

/** Whoever queues all must be done with one before the next comes; whoever replaces must be at work when it does. */
function workOf(random: SeededRandom, overlap: OverlapPolicy): Pick<ChaosJob, "workMs" | "failsFirst"> {
  if (overlap === "queue_all") return { workMs: random.between(0, 250), failsFirst: false };
  const drawn = work(random);
  return overlap === "cancel_running" ? { ...drawn, workMs: random.between(4_000, 6_500) } : drawn;
}

/** Most work is long enough to be rescued and still under way elsewhere when its first worker wakes; the rest is short. */
function work(random: SeededRandom): Pick<ChaosJob, "workMs" | "failsFirst"> {
  const workMs = random.next() < 0.4 ? random.between(0, 400) : random.between(2_500, 5_000);
  return { workMs, failsFirst: random.next() < 0.05 };
}
