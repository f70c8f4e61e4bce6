import { type Instant, noteLimits, type RunError, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

/** A run whose end started another. */
export interface UpstreamRun {
  readonly id: string;
  readonly jobId: string;
  readonly jobKey: string | null;
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly finishedAt: Instant;
  readonly output: unknown;
  /** It has more bytes than are handed on. */
  readonly isOutputCut: boolean;
  readonly error: RunError | null;
}

/** What a run that others' ends started may know of them. */
export interface UpstreamReads {
  /** What asked for a run that ended; null: it is not there any more. */
  trigger(namespaceId: number, runId: string): Promise<string | null>;
  /** Those that history still has, in the order asked for. */
  runs(namespaceId: number, runIds: readonly string[]): Promise<UpstreamRun[]>;
}

/** The end of a run is recorded by the database's clock, and its id was made by a node's. */
const clockSlackMs = 3_600_000;

export function upstreamReads(db: Queryable, statements: Statements): UpstreamReads {
  const trigger = statements.get("dependency.trigger_of");
  const runs = statements.get("dependency.upstream_runs");
  return {
    async trigger(namespaceId, runId) {
      const values = [namespaceId, runId, notBefore([runId])];
      return (await db.query<{ trigger: string }>(trigger, values)).rows[0]?.trigger ?? null;
    },
    async runs(namespaceId, runIds) {
      if (runIds.length === 0) return [];
      const values = [namespaceId, runIds, notBefore(runIds), noteLimits.valueBytes];
      const found = new Map((await db.query<UpstreamRow>(runs, values)).rows.map((row) => [row.id, toUpstream(row)]));
      return runIds.flatMap((id) => found.get(id) ?? []);
    },
  };
}

function notBefore(ids: readonly string[]): string {
  return timestampParam(Math.max(0, Math.min(...ids.map(timeOfUuid)) - clockSlackMs));
}

interface UpstreamRow {
  id: string;
  job_id: string;
  key: string | null;
  status: UpstreamRun["status"];
  status_reason: string | null;
  finished_at: Instant;
  output: unknown;
  is_cut: boolean;
  error: RunError | null;
}

function toUpstream(row: UpstreamRow): UpstreamRun {
  const { id, job_id: jobId, key: jobKey, status, status_reason: reason, finished_at: finishedAt, output, error } = row;
  return { id, jobId, jobKey, status, reason, finishedAt, output, isOutputCut: row.is_cut, error };
}
