import type { SeededRandom } from "./random.js";

/** When a job is to run, as the request says it. Instants are milliseconds; in a plan they count from the begin of the load. */
export type Rule =
  | { readonly kind: "cron"; readonly cron: string; readonly timeZone: string; readonly endsAt: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly startsAt: number; readonly endsAt: number }
  | { readonly kind: "at"; readonly at: number };

export type OverlapPolicy = "allow" | "skip" | "queue_one" | "queue_all";

/** What becomes of occurrences that are later than the threshold. */
export interface Misfire {
  readonly policy: "run_once" | "skip" | "run_all";
  readonly thresholdMs: number;
}

export interface ChaosJob {
  readonly key: string;
  readonly rule: Rule;
  /** How long its handler takes. */
  readonly workMs: number;
  /** Its first try is answered with a 503. */
  readonly failsFirst: boolean;
  /** With any other than allow, two of its runs must never work at the same time. */
  readonly overlap: OverlapPolicy;
  readonly misfire: Misfire;
}

export interface PlannedJob {
  /** When it is asked for, after the begin of the load. */
  readonly createAtMs: number;
  readonly job: ChaosJob;
}

export interface WorkloadBounds {
  readonly loadMs: number;
  readonly recurring: number;
}

const crons = ["*/2 * * * * *", "*/5 * * * * *", "1/3 * * * * *", "*/7 * * * * *", "0,13,26,40 * * * * *", "* * * * *"];
const zones = ["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
const periods = [1_000, 2_000, 2_500, 3_000, 4_000, 7_000];
const oneOffEveryMs = 400;

/** Recurring jobs, half of them from the begin; one-off jobs all along. Nothing is due after the end of the load. */
export function planWorkload(random: SeededRandom, { loadMs, recurring }: WorkloadBounds): PlannedJob[] {
  const planned: PlannedJob[] = [];
  for (let index = 0; index < recurring; index++) {
    const createAtMs = index * 2 < recurring ? 0 : random.between(0, Math.floor(loadMs / 2));
    planned.push({ createAtMs, job: recurringJob(random, index, loadMs) });
  }
  for (let atMs = 0, index = 0; atMs < loadMs - 1_000; atMs += oneOffEveryMs, index++) {
    const at = Math.min(atMs + random.between(200, 15_000), loadMs);
    planned.push({ createAtMs: atMs, job: { ...work(random), key: `once-${index}`, rule: { kind: "at", at } } });
  }
  return planned.sort((a, b) => a.createAtMs - b.createAtMs);
}

/** The rule of a plan that begins at this instant, a whole second. */
export function ruleFrom(begin: number, rule: Rule): Rule {
  if (rule.kind === "at") return { ...rule, at: begin + rule.at };
  const endsAt = begin + rule.endsAt;
  return rule.kind === "cron" ? { ...rule, endsAt } : { ...rule, startsAt: begin + rule.startsAt, endsAt };
}

function recurringJob(random: SeededRandom, index: number, endsAt: number): ChaosJob {
  if (random.next() < 0.5) {
    const rule: Rule = { kind: "cron", cron: random.pick(crons), timeZone: random.pick(zones), endsAt };
    return { ...work(random), key: `cron-${index}`, rule };
  }
  const startsAt = random.between(-60, 10) * 1_000 + random.between(0, 999);
  return {
    ...work(random),
    key: `every-${index}`,
    rule: { kind: "every", everyMs: random.pick(periods), startsAt, endsAt },
  };
}

const misfire: Misfire = { policy: "run_once", thresholdMs: 60_000 };

/** Most work is long enough to be rescued and still under way elsewhere when its first worker wakes; the rest is short. */
function work(random: SeededRandom): Pick<ChaosJob, "workMs" | "failsFirst" | "overlap" | "misfire"> {
  const workMs = random.next() < 0.4 ? random.between(0, 400) : random.between(2_500, 5_000);
  return { workMs, failsFirst: random.next() < 0.05, overlap: "skip", misfire };
}
