import { type CompiledSchedule, describeSchedule, type DurationMs, type Instant } from "@carillon/core";
import type { ForecastJob } from "@carillon/store";

/** How many jobs fire in one second. */
export interface CrowdedSecond {
  readonly at: Instant;
  readonly fires: number;
}

/** Jobs with one rule that fire in crowded seconds, and the jitter that would spread them. */
export interface JitterProposal {
  readonly description: string;
  /** How many jobs have this rule; estimated from the sample. */
  readonly jobs: number;
  readonly examples: readonly { readonly id: string; readonly key: string | null }[];
  readonly jitterMs: DurationMs;
  /** Fires of this rule in its busiest second, now and with the jitter. */
  readonly peakBefore: number;
  readonly peakAfter: number;
}

/** The fires of the schedules of a namespace. One-off jobs, retries and manual runs are not included. */
export interface Forecast {
  readonly from: Instant;
  /** Earlier than requested if there are more instants than one forecast counts. */
  readonly until: Instant;
  /** Jobs that fire in that time; an estimate unless all were read. */
  readonly jobs: number;
  readonly sampledJobs: number;
  readonly isExact: boolean;
  readonly fires: number;
  /** Fires of each minute, from the first on. */
  readonly perMinute: readonly number[];
  readonly busiest: CrowdedSecond | null;
  /** The busiest first. */
  readonly crowded: readonly CrowdedSecond[];
  readonly proposals: readonly JitterProposal[];
}

export interface Sample {
  readonly jobs: readonly ForecastJob[];
  /** How many jobs each of them stands for. */
  readonly factor: number;
  readonly from: Instant;
  readonly until: Instant;
}

export type Compile = (job: ForecastJob) => CompiledSchedule | null;

/** Instants that one forecast counts. */
const maxInstants = 300_000;
/** A second is crowded if it has at least this many fires, and this many times the average. */
const crowdedFires = 10;
const crowdedFactor = 10;
const maxCrowded = 20;
const maxProposals = 10;
const maxExamples = 3;
const maxJitterMs: DurationMs = 600_000;

interface Rule {
  readonly jobs: readonly ForecastJob[];
  readonly compiled: CompiledSchedule;
  readonly isSpread: boolean;
}

/**
 * Counts the fires of a sample of jobs. Jobs with the same rule and no jitter fire together, so their rule is evaluated once;
 * jobs with jitter are evaluated one by one. If there are more instants than one forecast counts, the forecast ends earlier.
 */
export function countFires({ jobs, factor, from, until: requested }: Sample, compile: Compile): Forecast {
  const rules = byRule(jobs, compile);
  const until = cut(rules, from, requested);
  const seconds = new Map<number, number>();
  const peaks = new Map<Rule, Map<number, number>>();
  for (const rule of rules) peaks.set(rule, count(rule, { from, until }, seconds));
  const minutes = Math.max(1, Math.ceil((until - from) / 60_000));
  const perMinute = Array.from({ length: minutes }, () => 0);
  let sum = 0;
  for (const [second, fires] of seconds) {
    sum += fires;
    const minute = Math.floor((second * 1_000 - from) / 60_000);
    if (minute >= 0 && minute < minutes) perMinute[minute] = (perMinute[minute] ?? 0) + fires;
  }
  const scaled = (fires: number): number => Math.round(fires * factor);
  const threshold = Math.max(crowdedFires, (crowdedFactor * sum * factor) / Math.max(1, (until - from) / 1_000));
  const busy = [...seconds]
    .map(([second, fires]): CrowdedSecond => ({ at: second * 1_000, fires: scaled(fires) }))
    .sort((a, b) => b.fires - a.fires || a.at - b.at);
  const crowded = busy.filter((one) => one.fires >= threshold).slice(0, maxCrowded);
  return {
    from,
    until,
    jobs: scaled(jobs.length),
    sampledJobs: jobs.length,
    isExact: factor === 1 && until === requested,
    fires: scaled(sum),
    perMinute: perMinute.map(scaled),
    busiest: busy[0] ?? null,
    crowded,
    proposals: proposals(peaks, { crowded, threshold, scaled, from }),
  };
}

function byRule(jobs: readonly ForecastJob[], compile: Compile): Rule[] {
  const groups = new Map<string, ForecastJob[]>();
  const spread: Rule[] = [];
  for (const job of jobs) {
    if ("jitterMs" in job.schedule && (job.schedule.jitterMs ?? 0) > 0) {
      const compiled = compile(job);
      if (compiled !== null) spread.push({ jobs: [job], compiled, isSpread: true });
      continue;
    }
    const name = JSON.stringify(job.schedule);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [job]);
    else group.push(job);
  }
  const together = [...groups.values()].flatMap((same): Rule[] => {
    const compiled = same[0] === undefined ? null : compile(same[0]);
    return compiled === null ? [] : [{ jobs: same, compiled, isSpread: false }];
  });
  return [...together, ...spread];
}

/** The latest end whose instants one forecast can count. */
function cut(rules: readonly Rule[], from: Instant, requested: Instant): Instant {
  let until = requested;
  for (let round = 0; round < 20; round++) {
    const instants = rules.reduce((sum, { compiled }) => sum + compiled.countBetween(from - 1, until), 0);
    if (instants <= maxInstants) return until;
    until = from + Math.max(1_000, Math.floor(((until - from) * maxInstants * 0.9) / instants));
  }
  return until;
}

/** Returns the fires of the rule by second. */
function count(rule: Rule, span: { from: Instant; until: Instant }, seconds: Map<number, number>): Map<number, number> {
  const { compiled, jobs } = rule;
  const own = new Map<number, number>();
  for (let at = compiled.nextNominal(span.from - 1); at !== -1 && at < span.until; at = compiled.nextNominal(at)) {
    const second = Math.floor((at + compiled.jitterAt(at)) / 1_000);
    seconds.set(second, (seconds.get(second) ?? 0) + jobs.length);
    if (!rule.isSpread && jobs.length > 1) own.set(second, jobs.length);
  }
  return own;
}

interface Crowd {
  readonly crowded: readonly CrowdedSecond[];
  readonly threshold: number;
  readonly scaled: (fires: number) => number;
  readonly from: Instant;
}

/** For rules that many jobs share: a jitter that brings their busiest second below the threshold of a crowded one. */
function proposals(peaks: ReadonlyMap<Rule, Map<number, number>>, crowd: Crowd): JitterProposal[] {
  const found: JitterProposal[] = [];
  for (const [rule, own] of peaks) {
    const isCrowding = crowd.crowded.some(({ at }) => own.has(at / 1_000));
    const [first] = rule.jobs;
    const jobs = crowd.scaled(rule.jobs.length);
    if (!isCrowding || first === undefined || jobs < crowdedFires) continue;
    const wanted = Math.ceil(jobs / Math.max(1, crowd.threshold / 2)) * 1_000;
    const jitterMs = Math.min(wanted, maxJitterMs, Math.floor(smallestGap(rule.compiled, crowd.from) / 2_000) * 1_000);
    if (jitterMs < 1_000) continue;
    found.push({
      description: describeSchedule(first.schedule),
      jobs,
      examples: rule.jobs.slice(0, maxExamples).map(({ id, key }) => ({ id, key })),
      jitterMs,
      peakBefore: jobs,
      peakAfter: Math.ceil(jobs / (jitterMs / 1_000)),
    });
  }
  return found.sort((a, b) => b.peakBefore - a.peakBefore).slice(0, maxProposals);
}

/** The smallest interval between the next few fires: a jitter must be shorter. */
function smallestGap(compiled: CompiledSchedule, from: Instant): DurationMs {
  let smallest = Number.POSITIVE_INFINITY;
  let at = compiled.nextNominal(from - 1);
  for (let step = 0; step < 50 && at !== -1; step++) {
    const next = compiled.nextNominal(at);
    if (next !== -1) smallest = Math.min(smallest, next - at);
    at = next;
  }
  return Number.isFinite(smallest) ? smallest : maxJitterMs * 2;
}
