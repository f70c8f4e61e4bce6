import { type Instant, type RunError, type RunPolicy, type RunStatus, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { type HistoryDays, dayMs, maxDaysAtOnce } from "../history/history-days.js";
import type { Statements } from "../sql/statements.js";
import { clockSlackMs } from "./run-filter.js";

/** A run, in the form that the reads of all tables return. */
export interface RunRow {
  readonly id: string;
  readonly job_id: string | null;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  readonly status: RunStatus;
  readonly status_reason: string | null;
  readonly trigger: string;
  readonly nominal_at: Instant;
  readonly run_at: Instant;
  readonly created_at: Instant;
  readonly started_at: Instant | null;
  readonly finished_at: Instant | null;
  readonly attempt: number;
  readonly losses: number;
  readonly fence: number;
  readonly session_id: string | null;
  readonly payload: unknown;
  readonly policy: RunPolicy | null;
  readonly output: unknown;
  readonly error: RunError | null;
  readonly attempts: AttemptRecord[] | null;
  readonly labels: Record<string, string> | null;
  readonly owner: string | null;
  readonly deadline_at: Instant | null;
}

/** Reads of live runs, near their time or far from it, and of finished ones; all have the same form. */
export interface RunReads {
  live(namespaceId: number, ids: readonly string[]): Promise<RunRow[]>;
  finished(namespaceId: number, ids: readonly string[], notBefore: Instant): Promise<RunRow[]>;
  /** One-off runs that their job has yet to make under their id, because it was changed before their time. */
  toCome(namespaceId: number, ids: readonly string[]): Promise<RunRow[]>;
  /** The progress of the runs that reported some. */
  progress(ids: readonly string[]): Promise<ReadonlyMap<string, RunProgress>>;
}

/** The days of the first read: most runs end soon after their id was made. Later reads cover many days each. */
const spans = [3];

export function runReads(db: Queryable, statements: Statements, days: HistoryDays): RunReads {
  const live = statements.get("run.find");
  const find = statements.get("history.find");
  const toCome = statements.get("run.find_planned");
  const progress = statements.get("record.progress");
  return {
    async live(namespaceId, ids) {
      return (await db.query<RunRow>(live, live.values({ namespaceId, ids }))).rows;
    },
    async finished(namespaceId, ids, notBefore) {
      const found: RunRow[] = [];
      let missing = ids;
      let left = await days.since(notBefore, db);
      for (let turn = 0; left.length > 0 && missing.length > 0; turn++) {
        const stretch = left.slice(0, spans[turn] ?? maxDaysAtOnce);
        const [from, before] = [stretch[0] ?? 0, (stretch.at(-1) ?? 0) + dayMs];
        const made = missing.filter((id) => timeOfUuid(id) < before + clockSlackMs);
        const ended = { endedFrom: timestampParam(from), endedBefore: timestampParam(before) };
        const values = find.values({ namespaceId, ids: made, ...ended });
        const { rows } = await db.query<RunRow>(find, values);
        found.push(...rows);
        const known = new Set(rows.map((row) => row.id));
        missing = missing.filter((id) => !known.has(id));
        left = left.slice(stretch.length);
      }
      return found;
    },
    toCome: async (namespaceId, ids) => (await db.query<RunRow>(toCome, toCome.values({ namespaceId, ids }))).rows,
    async progress(ids) {
      const { rows } = await db.query<RunProgress & { id: string }>(progress, progress.values({ runIds: ids }));
      return new Map(rows.map(({ id, fraction, text, at }) => [id, { fraction, text, at }]));
    },
  };
}

/** A claim that ended while its run went on, kept with the run: an attempt that failed, or one that ended with its worker. */
export interface AttemptRecord {
  readonly attempt: number;
  readonly fence: number;
  readonly sessionId: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  /** worker_lost counts against `max_losses`; not_started (a loss before the start was recorded) and drained against nothing. */
  readonly outcome: "failed" | "timeout" | "worker_lost" | "not_started" | "drained";
  readonly error?: RunError;
}

/** The progress that a run reported. */
export interface RunProgress {
  /** From 0 to 1. */
  readonly fraction: number;
  readonly text: string | null;
  readonly at: Instant;
}
