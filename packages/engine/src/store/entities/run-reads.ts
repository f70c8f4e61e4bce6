import { type Instant, type RunError, type RunPolicy, type RunStatus, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { AttemptRecord, RunProgress } from "../../model/run-view.js";

/** A run as every table gives it to readers. */
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
  /** How far these runs are, where they said so. */
  progress(ids: readonly string[]): Promise<ReadonlyMap<string, RunProgress>>;
}

const dayMs = 86_400_000;
/** Most runs have ended so long after their id was made; the others are looked for in all days since. */
const soonMs = 2 * dayMs;

/** `now`: the database's clock. */
export function runReads(db: Queryable, statements: Statements, now: () => Instant): RunReads {
  const live = statements.get("run.find");
  const find = statements.get("history.find");
  const progress = statements.get("record.progress");
  return {
    async live(namespaceId, ids) {
      return (await db.query<RunRow>(live, [namespaceId, ids])).rows;
    },
    async finished(namespaceId, ids, notBefore) {
      const end = now() + dayMs;
      const soon = Math.min(Math.max(...ids.map(timeOfUuid)) + soonMs, end);
      const within = async (wanted: readonly string[], from: Instant, before: Instant): Promise<RunRow[]> => {
        if (wanted.length === 0 || from >= before) return [];
        const values = [namespaceId, wanted, timestampParam(from), timestampParam(before)];
        return (await db.query<RunRow>(find, values)).rows;
      };
      const first = await within(ids, notBefore, soon);
      const found = new Set(first.map((row) => row.id));
      const missing = ids.filter((id) => !found.has(id));
      return [...first, ...(await within(missing, Math.max(notBefore, soon), end))];
    },
    async progress(ids) {
      const { rows } = await db.query<RunProgress & { id: string }>(progress, [ids]);
      return new Map(rows.map(({ id, fraction, text, at }) => [id, { fraction, text, at }]));
    },
  };
}
