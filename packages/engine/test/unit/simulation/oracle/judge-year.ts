import type { MemoryRange, MemoryRun } from "../../../../src/scheduler/memory/memory-tables.js";
import type { YearRecord } from "../world/life.js";
import { type Complaint, report } from "./complaint.js";
import { JobJudge, type RunOfJob } from "./judge-job.js";
import { OpenWindows } from "./open-windows.js";

export interface Verdict {
  readonly complaints: readonly Complaint[];
  /** What to print when there are any. */
  readonly report: string;
  readonly runs: number;
  readonly inLedger: number;
}

/** Judges what a year left behind by what its jobs say, without any code that had a part in it. */
export function judgeYear(record: YearRecord): Verdict {
  const runs = runsByJob(record);
  const ledger = groupBy(record.ledger, (range: MemoryRange) => range.jobId);
  const year = { record, windows: new OpenWindows(record.windows) };
  const complaints = [...record.lives].flatMap(([jobId, life]) => {
    const ofJob = (runs.get(jobId) ?? []).toSorted((a, b) => a.nominal - b.nominal);
    const ranges = (ledger.get(jobId) ?? []).toSorted((a, b) => a.from - b.from || a.to - b.to);
    const due = record.jobs.get(jobId)?.due;
    const settled = { firedThrough: due?.firedThrough ?? null, isCompleted: due?.state === "completed" };
    return new JobJudge(year, { jobId, life, runs: ofJob, ledger: ranges, ...settled }).judge();
  });
  complaints.push(...judgeEpochs(record), ...strangers(record));
  const accused = (jobId: string) => {
    const life = record.lives.get(jobId);
    if (life === undefined) return null;
    return { schedules: life.rules.map((rule) => rule.schedule), firing: life.drawn.spec.firing ?? {} };
  };
  return {
    complaints,
    report: report(record.seed, complaints, accused),
    runs: record.live.length + record.ended.length,
    inLedger: record.ledger.reduce((sum, range) => sum + range.count, 0),
  };
}

function runsByJob({ live, ended }: YearRecord): Map<string, RunOfJob[]> {
  const view = (run: MemoryRun, finishedAt: number | null): RunOfJob & { jobId: string } => {
    const { jobId, nominal, runAt, createdAt, trigger } = run;
    return { jobId: jobId ?? "", nominal, runAt, createdAt, trigger, finishedAt };
  };
  const all = [...live.map((run) => view(run, null)), ...ended.map((one) => view(one.run, one.finishedAt))];
  return groupBy(all, (run) => run.jobId);
}

function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const known = groups.get(keyOf(row));
    if (known === undefined) groups.set(keyOf(row), [row]);
    else known.push(row);
  }
  return groups;
}

/** Each node that took a shard has a higher epoch than every owner before. */
function judgeEpochs({ epochs }: YearRecord): Complaint[] {
  const highest = new Map<number, number>();
  const complaints: Complaint[] = [];
  for (const { shard, epoch } of epochs) {
    if (epoch <= (highest.get(shard) ?? 0)) {
      complaints.push({ law: "epoch", jobId: "", at: 0, detail: `shard ${shard} went back to epoch ${epoch}` });
    }
    highest.set(shard, epoch);
  }
  return complaints;
}

/** Runs and ledger entries of jobs that do not exist. */
function strangers({ live, ended, ledger, lives }: YearRecord): Complaint[] {
  const ids = [...live, ...ended.map((one) => one.run), ...ledger].map((row) => row.jobId ?? "");
  return [...new Set(ids)]
    .filter((jobId) => !lives.has(jobId))
    .map((jobId) => ({ law: "invented", jobId, at: 0, detail: "the job does not exist" }));
}
