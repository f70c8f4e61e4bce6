import type { StartEntry } from "../journal/entry.js";
import { type ChaosWindow, isInside } from "../plan/surroundings.js";
import type { Life } from "../targets/life.js";
import { mayHaveCost } from "./causes.js";
import type { Evidence, RunRow } from "./evidence.js";
import { groupBy, occurrenceKey } from "./group-by.js";
import type { JournalView } from "./journal-view.js";
import { isReplaced, workedOnMs } from "./judge-replaced.js";
import { judgeRunNows } from "./judge-run-nows.js";
import { cancelledFrom, isUnasked } from "./unasked.js";
import type { Verdict, Violation, ViolationKind } from "./verdict.js";

type RunVerdict = Pick<Verdict, "runs" | "violations">;
type Flaw = readonly [kind: ViolationKind, detail: string];

/** How often a run may lose its worker before it is given up. */
const maxLosses = 3;

/** Is every run that exists or worked one that was promised, done once, in time, by whoever held it? */
export function judgeRuns(evidence: Evidence, journal: JournalView): RunVerdict {
  const promised = new Set(evidence.targets.map(occurrenceKey));
  const lifeOf = new Map(evidence.lives.map((life) => [life.job.key, life]));
  const rowsOf = groupBy(evidence.runs, (run) => run.id);
  const siblingsOf = groupBy(evidence.runs, (run) => run.job);
  const counts = { ok: 0, repeated: 0, replaced: 0, buried: 0 };
  const violations: Violation[] = [];
  for (const [id, rows] of rowsOf) {
    const [row] = rows;
    if (row === undefined) continue;
    const starts = journal.startsOf(id);
    const flaws: Flaw[] = [];
    const life = lifeOf.get(row.job);
    const siblings = siblingsOf.get(row.job) ?? [];
    const replaced = isReplaced(row, life, siblings);
    if (isUnasked(row, promised, { life, journal })) flaws.push(["UNEXPECTED", "nothing promised this run"]);
    if (rows.length > 1) flaws.push(["DOUBLE", `${rows.length} rows for one run`]);
    flaws.push(
      ...earlyFlaws(row, starts, life?.job.window ?? null),
      ...fenceFlaws(row, starts),
      ...repeatFlaws(evidence, journal, starts),
      ...(replaced ? [] : endFlaws(row, life)),
      ...(life?.job.overlap === "cancel_running" ? stopFlaws(row, { ...evidence, runs: siblings, journal }) : []),
    );
    for (const [kind, detail] of flaws)
      violations.push({ kind, job: row.job, nominal: row.nominal, detail: `run ${id}: ${detail}` });
    if (flaws.length > 0) continue;
    if (replaced) counts.replaced += 1;
    else if (row.reason === "worker_lost") counts.buried += 1;
    else if (starts.length > 1) counts.repeated += 1;
    else counts.ok += 1;
  }
  violations.push(
    ...doubledOccurrences(evidence.runs),
    ...unknownRuns(journal, rowsOf),
    ...evidence.lives.flatMap((life) => judgeRunNows(life, evidence.runs)),
  );
  return { runs: counts, violations };
}

/** What a window holds back has its time at the window's end. */
function earlyFlaws({ nominal, trigger }: RunRow, starts: readonly StartEntry[], window: ChaosWindow | null): Flaw[] {
  const isHeld = trigger === "schedule" && isInside(window, nominal) && window.mode === "hold";
  const due = isHeld ? window.to : nominal;
  const early = starts.filter((start) => start.at < due);
  return early.map((start): Flaw => ["EARLY", `its work began ${due - start.at} ms before its time`]);
}

/** Only the try with the highest fence so far may be accepted, and no two tries may share a fence. */
function fenceFlaws(row: RunRow, starts: readonly StartEntry[]): Flaw[] {
  const flaws: Flaw[] = [];
  const fences = starts.map((start) => start.fence);
  if (new Set(fences).size < fences.length)
    flaws.push(["STALE FENCE ACCEPTED", `tries share a fence: ${fences.join(", ")}`]);
  const accepted = starts.find((start) => start.token === row.token);
  if (row.token !== null && accepted === undefined)
    flaws.push(["STALE FENCE ACCEPTED", "the accepted answer was given to another run"]);
  if (accepted === undefined) return flaws;
  const newest = Math.max(
    row.fence,
    ...starts.filter((start) => start.at < (row.finishedAt ?? 0)).map((start) => start.fence),
  );
  if (accepted.fence < newest) {
    flaws.push([
      "STALE FENCE ACCEPTED",
      `the result of fence ${accepted.fence} was accepted after fence ${newest} was given out`,
    ]);
  }
  return flaws;
}

/** A second try needs a cause: the first failed, or a fault that may have cost its worker. */
function repeatFlaws(evidence: Evidence, journal: JournalView, starts: readonly StartEntry[]): Flaw[] {
  return starts.slice(1).flatMap((start, index): Flaw[] => {
    const before = starts[index];
    if (before === undefined || journal.endOf(before.token)?.outcome === "failed") return [];
    return mayHaveCost(evidence, { from: before.at, to: start.at })
      ? []
      : [["DOUBLE", `worked on again ${start.at - before.at} ms later without a cause`]];
  });
}

function stopFlaws(row: RunRow, seen: Parameters<typeof workedOnMs>[1]): Flaw[] {
  const ms = workedOnMs(row, seen);
  return ms === null
    ? []
    : [["OVERLAP", `it worked on for ${Math.round(ms)} ms after a newer run had come to replace it`]];
}

function endFlaws({ status, reason, losses, finishedAt }: RunRow, life: Life | undefined): Flaw[] {
  if (status === "succeeded" || status === "live") return [];
  const cancelled = life === undefined ? null : cancelledFrom(life);
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

function unknownRuns(journal: JournalView, rowsOf: ReadonlyMap<string, unknown>): Violation[] {
  const unknown = journal.starts.filter((start) => !rowsOf.has(start.run));
  return unknown.map((start) => ({
    kind: "UNEXPECTED",
    job: start.job,
    nominal: null,
    detail: `run ${start.run} worked, and the database does not know it`,
  }));
}
