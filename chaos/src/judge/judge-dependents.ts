import type { AwaitedEnd } from "../plan/dependent-job.js";
import type { DependentHistory } from "../targets/job-history.js";
import { type Evidence, type JournalView, type RunRow, groupBy } from "./evidence.js";
import type { Verdict, Violation } from "./verdict.js";

type DependentVerdict = Pick<Verdict, "upstreamEnds" | "violations">;

export const isDependentRun = ({ trigger }: RunRow): boolean => trigger.startsWith("after:");

/** The id of the run whose end started this one. */
const upstreamOf = ({ trigger }: RunRow): string => trigger.split(":")[1] ?? "";

/** Checks that every upstream end that counts started the dependent job once, and that nothing else did. */
export function judgeDependents({ dependents, runs }: Evidence, journal: JournalView): DependentVerdict {
  const dependentRuns = groupBy(runs.filter(isDependentRun), (run) => run.job);
  const counts = { ok: 0, optional: 0 };
  const violations: Violation[] = [];
  for (const history of dependents) {
    const made = dependentRuns.get(history.dependent.key) ?? [];
    dependentRuns.delete(history.dependent.key);
    if (history.dependent.mode === "all") {
      const rounds = judgeRounds(history, made, runs);
      counts.ok += rounds.ok;
      violations.push(...rounds.violations, ...made.flatMap((run) => unworked(run, journal) ?? []));
      continue;
    }
    const each = judgeEach({ history, made, runs, journal });
    counts.ok += each.upstreamEnds.ok;
    counts.optional += each.upstreamEnds.optional;
    violations.push(...each.violations);
  }
  violations.push(...[...dependentRuns.values()].flat().map(unexpected));
  return { upstreamEnds: counts, violations };
}

interface DependentEvidence {
  readonly history: DependentHistory;
  readonly made: readonly RunRow[];
  readonly runs: readonly RunRow[];
  readonly journal: JournalView;
}

/** Judges a job that each upstream end starts by itself. */
function judgeEach({ history, made, runs, journal }: DependentEvidence): DependentVerdict {
  const { key, upstream } = history.dependent;
  const startedBy = groupBy(made, upstreamOf);
  const upstreamEnds = { ok: 0, optional: 0 };
  const violations: Violation[] = [];
  const ends = runs.filter((run) => upstream.includes(run.job) && hasEnded(run));
  for (const end of ends) {
    const flaw = flawOf(end, startedBy.get(end.id) ?? [], { obligation: obligationOf(end, history, ends), journal });
    startedBy.delete(end.id);
    if (flaw === "optional") upstreamEnds.optional += 1;
    else if (flaw === "ok") upstreamEnds.ok += 1;
    else if (flaw !== null) violations.push({ ...flaw, job: key, nominal: end.finishedAt });
  }
  violations.push(...[...startedBy.values()].flat().map(unexpected));
  return { upstreamEnds, violations };
}

type Flaw = Pick<Violation, "kind" | "detail">;

/** Null if the end does not count and started nothing. */
function flawOf(
  end: RunRow,
  made: readonly RunRow[],
  { obligation, journal }: { obligation: Obligation; journal: JournalView },
): Flaw | "ok" | "optional" | null {
  const [run] = made;
  const what = `the end of run ${end.id} of ${end.job}`;
  if (run === undefined) {
    if (obligation === "required") return { kind: "MISSED", detail: `${what} started nothing` };
    return obligation === "optional" ? "optional" : null;
  }
  if (obligation === "forbidden")
    return { kind: "UNEXPECTED", detail: `${what} does not count, but started run ${run.id}` };
  const ids = new Set(made.map(({ id }) => id));
  if (ids.size > 1) return { kind: "DOUBLE", detail: `${what} started ${ids.size} runs` };
  return unworked(run, journal) ?? "ok";
}

function unworked(run: RunRow, journal: JournalView): Violation | null {
  const of = { job: run.job, nominal: run.nominal };
  if (run.status === "live") return { ...of, kind: "UNDONE", detail: `run ${run.id} did not end within the bound` };
  if (run.status === "succeeded" && journal.startsOf(run.id).length === 0)
    return { ...of, kind: "MISSED", detail: `run ${run.id} ended without its work` };
  return null;
}

function unexpected({ id, job, nominal, trigger }: RunRow): Violation {
  return { kind: "UNEXPECTED", job, nominal, detail: `run ${id}: no upstream end matches it (${trigger})` };
}

/** Whether an end must start the dependent job, may start it, or must not start it. */
type Obligation = "required" | "optional" | "forbidden";

/** An end becomes visible some time after its instant, and a call takes effect some time before its answer. */
const slackMs = 2_000;

interface Pause {
  readonly sentAt: number;
  readonly settledAt: number | null;
  readonly resume: DependentHistory["changes"][number] | undefined;
}

/** `ends` are all ends that may count for the job. */
function obligationOf(end: RunRow, history: DependentHistory, ends: readonly RunRow[]): Obligation {
  const at = end.finishedAt ?? 0;
  const awaited = awaitedAt(at, history);
  if (!awaited.some((on) => fits(end, on))) return "forbidden";
  if (!awaited.every((on) => fits(end, on))) return "optional";
  if (history.acknowledgedAt === null || at <= history.acknowledgedAt) return "optional";
  for (const pause of pausesOf(history)) {
    const obligation = obligationInPause(pause, end, ends);
    if (obligation !== "required") return obligation;
  }
  return "required";
}

/** A run that never ran has no end. */
function hasEnded({ status }: RunRow): boolean {
  return status !== "live" && status !== "skipped";
}

function fits({ status }: RunRow, on: AwaitedEnd): boolean {
  return on === "finish" || status === "succeeded";
}

/** The settings that may have been in force at the instant. */
function awaitedAt(at: number, { dependent, changes }: DependentHistory): AwaitedEnd[] {
  let awaited = [dependent.on];
  for (const { change, sentAt, settledAt } of changes) {
    if (change.kind !== "edit" || at < sentAt - slackMs) continue;
    const isSettled = settledAt !== null && at > settledAt + slackMs;
    awaited = isSettled ? [change.on] : [...awaited, change.on];
  }
  return awaited;
}

function pausesOf({ changes }: DependentHistory): Pause[] {
  return changes.flatMap(({ change, sentAt, settledAt }, index) => {
    if (change.kind !== "pause") return [];
    const resume = changes.slice(index + 1).find((later) => later.change.kind === "resume");
    return [{ sentAt, settledAt, resume }];
  });
}

function obligationInPause({ sentAt, settledAt, resume }: Pause, end: RunRow, ends: readonly RunRow[]): Obligation {
  const at = end.finishedAt ?? 0;
  const over = resume === undefined ? Number.POSITIVE_INFINITY : (resume.settledAt ?? Number.POSITIVE_INFINITY);
  if (at < sentAt - slackMs || at > over + slackMs) return "required";
  if (settledAt === null || (resume !== undefined && resume.settledAt === null)) return "optional";
  const missed = resume?.change.kind === "resume" ? resume.change.missed : null;
  if (missed === "all") return "required";
  const isInside = at > settledAt + slackMs && at < (resume?.sentAt ?? Number.POSITIVE_INFINITY) - slackMs;
  if (!isInside) return "optional";
  if (missed !== "latest") return "forbidden";
  const later = ends.flatMap(({ job, id, finishedAt }) =>
    job === end.job && id !== end.id && finishedAt !== null && finishedAt >= at - slackMs ? [finishedAt] : [],
  );
  if (later.some((one) => one > at + slackMs && one < (resume?.sentAt ?? 0) - slackMs)) return "forbidden";
  return later.some((one) => one < over + slackMs) ? "optional" : "required";
}

interface RoundVerdict {
  readonly ok: number;
  readonly violations: readonly Violation[];
}

/** The ids of the runs in a round, in the order of the upstream jobs. */
const roundOf = ({ trigger }: RunRow): string[] => trigger.split(":").slice(2);

/**
 * Judges a job that starts after one end of each of several jobs: each start must name one end of each, no end may be
 * named twice, and no complete set of ends may start nothing.
 */
function judgeRounds(history: DependentHistory, made: readonly RunRow[], runs: readonly RunRow[]): RoundVerdict {
  const { key, upstream } = history.dependent;
  const ends = new Map(runs.filter((run) => upstream.includes(run.job) && hasEnded(run)).map((run) => [run.id, run]));
  const named = new Set<string>();
  const violations: Violation[] = [];
  const spans: Span[] = [];
  let ok = 0;
  for (const run of made) {
    const round = roundOf(run).map((id) => ends.get(id));
    const isWhole = round.length === upstream.length && round.every((end, index) => end?.job === upstream[index]);
    const isRepeated = roundOf(run).some((id) => named.has(id));
    for (const id of roundOf(run)) named.add(id);
    const of = { job: key, nominal: run.nominal };
    if (!isWhole)
      violations.push({
        ...of,
        kind: "UNEXPECTED",
        detail: `run ${run.id}: it names no complete round (${run.trigger})`,
      });
    else if (isRepeated) violations.push({ ...of, kind: "DOUBLE", detail: `run ${run.id}: an end started two rounds` });
    else ok += 1;
    const instants = round.flatMap((end) => end?.finishedAt ?? []);
    spans.push({ from: Math.min(...instants), to: Math.max(...instants) });
  }
  const missed = history.acknowledgedAt === null ? [] : gapsIn(spans, history.acknowledgedAt).filter(holdsRound);
  return { ok, violations: [...violations, ...missed.map(toViolation)] };

  /** Whether one end of each upstream job is between two rounds, with distance to both. */
  function holdsRound({ from, to }: Span): boolean {
    return upstream.every((job) =>
      [...ends.values()].some((end) => end.job === job && isBetween(end.finishedAt ?? 0, { from, to })),
    );
  }

  function toViolation({ from }: Span): Violation {
    return {
      job: key,
      nominal: from,
      kind: "MISSED",
      detail: `one end of each of ${upstream.join(", ")} started nothing`,
    };
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function isBetween(at: number, { from, to }: Span): boolean {
  return at > from + slackMs && at < to - slackMs;
}

/** The spans from the last end of a round to the first end of the next. */
function gapsIn(rounds: readonly Span[], acknowledgedAt: number): Span[] {
  const sorted = [...rounds].sort((one, other) => one.to - other.to);
  const starts = [acknowledgedAt, ...sorted.map(({ to }) => to)];
  const ends = [...sorted.map(({ from }) => from), Number.POSITIVE_INFINITY];
  return starts.map((from, index) => ({ from, to: ends[index] ?? from }));
}
