import type { StartEntry } from "../journal/journal-server.js";
import { type ChaosWindow, isInside } from "../plan/constraints.js";
import type { JobHistory } from "../targets/job-history.js";
import { mayBeLost, mayExplainRetry, undisturbedMs } from "./causes.js";
import { type DoneFault, type Evidence, type JournalView, type RunRow, groupBy, occurrenceKey } from "./evidence.js";
import { isDependentRun } from "./judge-dependents.js";
import type { Verdict, Violation, ViolationKind } from "./verdict.js";

type RunVerdict = Pick<Verdict, "runs" | "violations">;
type Flaw = readonly [kind: ViolationKind, detail: string];

/** How many workers a run may lose before the server gives it up. */
const maxLosses = 3;

/**
 * Checks that every run in the database or the journal was promised, done once, not early, and completed by the worker
 * that held it.
 */
export function judgeRuns(evidence: Evidence, journal: JournalView): RunVerdict {
  const promised = new Set(evidence.targets.map(occurrenceKey));
  const historyOf = new Map(evidence.histories.map((history) => [history.job.key, history]));
  const rowsOf = groupBy(evidence.runs, (run) => run.id);
  const siblingsOf = groupBy(evidence.runs, (run) => run.job);
  const counts = { ok: 0, repeated: 0, replaced: 0, abandoned: 0 };
  const violations: Violation[] = [];
  for (const [id, rows] of rowsOf) {
    const [row] = rows;
    if (row === undefined) continue;
    const starts = journal.startsOf(id);
    const flaws: Flaw[] = [];
    const history = historyOf.get(row.job);
    const siblings = siblingsOf.get(row.job) ?? [];
    const replaced = isReplaced(row, history, siblings);
    if (isUnrequested(row, promised, { history, journal })) flaws.push(["UNEXPECTED", "nothing promised this run"]);
    if (rows.length > 1) flaws.push(["DOUBLE", `${rows.length} rows for one run`]);
    flaws.push(
      ...earlyFlaws(row, starts, history?.job.window ?? null),
      ...fenceFlaws(row, starts),
      ...repeatFlaws(evidence, journal, starts),
      ...(replaced ? [] : endFlaws(row, history)),
      ...(history?.job.overlap === "cancel_running" ? stopFlaws(row, { ...evidence, runs: siblings, journal }) : []),
    );
    for (const [kind, detail] of flaws)
      violations.push({ kind, job: row.job, nominal: row.nominal, detail: `run ${id}: ${detail}` });
    if (flaws.length > 0) continue;
    if (replaced) counts.replaced += 1;
    else if (row.reason === "worker_lost") counts.abandoned += 1;
    else if (starts.length > 1) counts.repeated += 1;
    else counts.ok += 1;
  }
  violations.push(
    ...doubledOccurrences(evidence.runs),
    ...unknownRuns(evidence, journal, rowsOf),
    ...evidence.histories.flatMap((history) => judgeRunNows(history, evidence.runs)),
  );
  return { runs: counts, violations };
}

/** An occurrence that a window holds back is due at the end of the window. */
function earlyFlaws({ nominal, trigger }: RunRow, starts: readonly StartEntry[], window: ChaosWindow | null): Flaw[] {
  const isHeld = trigger === "schedule" && isInside(window, nominal) && window.mode === "hold";
  const due = isHeld ? window.to : nominal;
  const early = starts.filter((start) => start.at < due);
  return early.map((start): Flaw => ["EARLY", `its work began ${due - start.at} ms too early`]);
}

/** The server may accept only the attempt with the highest fence so far, and no two attempts may share a fence. */
function fenceFlaws(row: RunRow, starts: readonly StartEntry[]): Flaw[] {
  const flaws: Flaw[] = [];
  const fences = starts.map((start) => start.fence);
  if (new Set(fences).size < fences.length)
    flaws.push(["STALE FENCE ACCEPTED", `attempts share a fence: ${fences.join(", ")}`]);
  const accepted = starts.find((start) => start.token === row.token);
  if (row.token !== null && accepted === undefined)
    flaws.push(["STALE FENCE ACCEPTED", "the accepted token belongs to another run"]);
  if (accepted === undefined) return flaws;
  const newest = Math.max(
    row.fence,
    ...starts.filter((start) => start.at < (row.finishedAt ?? 0)).map((start) => start.fence),
  );
  if (accepted.fence < newest) {
    flaws.push([
      "STALE FENCE ACCEPTED",
      `the result of fence ${accepted.fence} was accepted after fence ${newest} was assigned`,
    ]);
  }
  return flaws;
}

/** A second attempt needs a cause: a failure of the first, or a fault that may have taken the run from its worker. */
function repeatFlaws(evidence: Evidence, journal: JournalView, starts: readonly StartEntry[]): Flaw[] {
  return starts.slice(1).flatMap((start, index): Flaw[] => {
    const before = starts[index];
    if (before === undefined || journal.endOf(before.token)?.outcome === "failed") return [];
    return mayExplainRetry(evidence, { from: before.at, to: start.at })
      ? []
      : [["DOUBLE", `attempted again ${start.at - before.at} ms later without a cause`]];
  });
}

function stopFlaws(row: RunRow, seen: Parameters<typeof workedOnMs>[1]): Flaw[] {
  const ms = workedOnMs(row, seen);
  return ms === null ? [] : [["OVERLAP", `it worked on for ${Math.round(ms)} ms after a newer run replaced it`]];
}

function endFlaws({ status, reason, losses, finishedAt }: RunRow, history: JobHistory | undefined): Flaw[] {
  if (status === "succeeded" || status === "live") return [];
  const cancelled = history === undefined ? null : cancelledFrom(history);
  if (status === "cancelled" && cancelled !== null && (finishedAt ?? 0) >= cancelled) return [];
  if (status === "failed" && reason === "worker_lost" && losses > maxLosses) return [];
  return [["UNDONE", `ended as ${status} (${reason ?? "no reason"})`]];
}

function doubledOccurrences(runs: readonly RunRow[]): Violation[] {
  return [...groupBy(runs, (run) => `${occurrenceKey(run)} ${run.trigger}`).values()].flatMap((same) => {
    const ids = new Set(same.map((run) => run.id));
    const [first] = same;
    if (first === undefined || ids.size < 2) return [];
    return [
      {
        kind: "DOUBLE" as const,
        job: first.job,
        nominal: first.nominal,
        detail: `${ids.size} runs for one occurrence`,
      },
    ];
  });
}

/** A failover may lose a run with its start; nothing else may. */
function unknownRuns(evidence: Evidence, journal: JournalView, rowsOf: ReadonlyMap<string, unknown>): Violation[] {
  const unknown = journal.starts.filter((start) => !rowsOf.has(start.run) && !mayBeLost(evidence, start.at));
  return unknown.map((start) => ({
    kind: "UNEXPECTED",
    job: start.job,
    nominal: null,
    detail: `run ${start.run} worked, but the database has no such run`,
  }));
}

/** Runs of one transaction have creation times in any order; within this time the occurrence decides which is newer. */
const togetherMs = 100;
/** The server sends a stop at once, and again with each heartbeat if it was lost. */
const stopMs = 3_000;
const settleMs = 2_000;

/** Whether a run was cancelled because a newer run of its job replaced it, as its policy allows. */
function isReplaced(run: RunRow, history: JobHistory | undefined, runs: readonly RunRow[]): boolean {
  if (run.status !== "cancelled" || run.reason !== "cancelled_by_overlap") return false;
  return history?.job.overlap === "cancel_running" && replacementOf(run, runs) !== undefined;
}

/**
 * How long a run continued to work after its replacement was created, without the time under faults; null if it stopped
 * in time. A run that ended just then need not be cancelled.
 */
function workedOnMs(
  run: RunRow,
  { runs, journal, faults }: { runs: readonly RunRow[]; journal: JournalView; faults: readonly DoneFault[] },
): number | null {
  const replaced = replacementOf(run, runs)?.createdAt;
  const end = journal.endOf(run.token ?? journal.startsOf(run.id).at(-1)?.token ?? -1)?.at;
  if (replaced === undefined || end === undefined || end <= replaced) return null;
  const worked = undisturbedMs(faults, { from: replaced, to: end, settleMs });
  return worked > stopMs ? worked : null;
}

/** The first run that was created after it and while it was live. */
function replacementOf(run: RunRow, runs: readonly RunRow[]): RunRow | undefined {
  const isNewer = ({ createdAt, nominal }: RunRow): boolean =>
    createdAt > run.createdAt || (createdAt >= run.createdAt - togetherMs && nominal > run.nominal);
  return runs
    .filter((one) => one.id !== run.id && isNewer(one) && one.createdAt <= (run.finishedAt ?? Number.POSITIVE_INFINITY))
    .toSorted((a, b) => a.createdAt - b.createdAt)[0];
}

/**
 * Checks that there are as many run-now runs as were requested. A call that was never answered may have created one.
 */
function judgeRunNows({ job: { key }, runNows }: JobHistory, runs: readonly RunRow[]): Violation[] {
  const made = new Set(runs.filter((run) => run.job === key && isRunNow(run)).map((run) => run.id)).size;
  const answered = runNows.filter((outcome) => outcome === "made").length;
  const max = answered + runNows.filter((outcome) => outcome === "unknown").length;
  const detail = `${made} run-now runs; ${answered} calls were acknowledged, and ${max} may have created one`;
  if (made < answered) return [{ kind: "MISSED", job: key, nominal: null, detail }];
  return made > max ? [{ kind: "UNEXPECTED", job: key, nominal: null, detail }] : [];
}

export const isRunNow = (run: RunRow): boolean => run.trigger.startsWith("run_now");

/** When the cancellation of the job was first requested; null if it never was. */
function cancelledFrom({ changes }: JobHistory): number | null {
  return changes.find(({ change }) => change.kind === "cancel")?.sentAt ?? null;
}

/** A scheduled run that nothing promised. A run that never worked and was cancelled with its job does not count. */
export function isUnrequested(
  run: RunRow,
  promised: ReadonlySet<string>,
  { history, journal }: { history: JobHistory | undefined; journal: JournalView },
): boolean {
  // The ends of upstream runs request dependent runs.
  if (isRunNow(run) || isDependentRun(run) || promised.has(occurrenceKey(run))) return false;
  const cancelled = history === undefined ? null : cancelledFrom(history);
  const wasEnded = run.status === "cancelled" && cancelled !== null && (run.finishedAt ?? 0) >= cancelled;
  return !(wasEnded && journal.startsOf(run.id).length === 0);
}
