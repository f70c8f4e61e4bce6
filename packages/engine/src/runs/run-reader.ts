import { isFinal, callbackSessionId, retryOf, shownLabels, timeOfUuid } from "@carillon/core";
import type { RunReads, RunRow, TriggerKind } from "@carillon/store";
import { type RunView, upstreamIdsOf } from "./run-view.js";

/** The end of a run has the time of the database's clock, its id that of a node's clock: reads allow for this difference. */
export const clockSlackMs = 3_600_000;

/**
 * Reads runs from all tables: live ones first, far-future ones included, then finished ones from history. `find` also finds a one-off run
 * that its job has yet to make, because the job was changed before its time.
 */
export class RunReader {
  readonly #reads: RunReads;

  constructor(reads: RunReads) {
    this.#reads = reads;
  }

  async find(namespaceId: number, id: string): Promise<RunView | null> {
    const found = (await this.findMany(namespaceId, [id])).get(id);
    if (found !== undefined) return found;
    const [toCome] = await this.#reads.toCome(namespaceId, [id]);
    if (toCome !== undefined) return toRunView(toCome, null);
    // Its job may have made it between the two reads.
    const live = await this.#reads.live(namespaceId, [id]);
    return (await this.views(live))[0] ?? null;
  }

  async findMany(namespaceId: number, ids: readonly string[]): Promise<Map<string, RunView>> {
    if (ids.length === 0) return new Map();
    const live = await this.#reads.live(namespaceId, ids);
    const found = new Map((await this.views(live)).map((run) => [run.id, run]));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) return found;
    // A run that ended between the two reads is in the second: runs never go back from history to the hot table.
    const notBefore = Math.min(...missing.map(timeOfUuid)) - clockSlackMs;
    const ended = await this.#reads.finished(namespaceId, missing, Math.max(0, notBefore));
    for (const row of ended) found.set(row.id, toRunView(row, null));
    return found;
  }

  /** Progress is read only for runs whose handler may have reported some. */
  async views(rows: readonly RunRow[]): Promise<RunView[]> {
    const started = rows.filter((row) => row.fence > 0 && !isFinal(row.status)).map((row) => row.id);
    const progress = started.length === 0 ? null : await this.#reads.progress(started);
    return rows.map((row) => toRunView(row, progress?.get(row.id) ?? null));
  }
}

const triggerKinds: ReadonlySet<string> = new Set([
  "schedule",
  "once",
  "run_now",
  "backfill",
  "retry",
  "replay",
  "after",
  "callback",
]);

/** A trigger is stored as its kind and, if its cause has one, an id behind a colon. */
function triggerOf(row: RunRow): RunView["trigger"] {
  const [kind = "", id = null] = row.trigger.split(":", 2);
  if (!triggerKinds.has(kind)) throw new Error(`run ${row.id} has the unknown trigger ${row.trigger}`);
  const upstreamIds = upstreamIdsOf(row.trigger);
  const after = upstreamIds.length > 0 ? { upstreamIds } : {};
  return { kind: kind as TriggerKind, id, scheduledFor: row.nominal_at, ...after };
}

export function toRunView(row: RunRow, progress: RunView["progress"]): RunView {
  return {
    id: row.id,
    jobId: row.job_id,
    task: row.task,
    queue: row.queue,
    priority: row.priority,
    status: row.status,
    statusReason: row.status_reason,
    trigger: triggerOf(row),
    runAt: row.run_at,
    deadlineAt: row.deadline_at,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    attempt: row.status === "running" ? row.attempt + 1 : row.attempt,
    maxAttempts: retryOf(row.policy ?? {}).maxAttempts,
    losses: row.losses,
    workerId: row.session_id === callbackSessionId ? null : row.session_id,
    progress,
    payload: row.payload,
    policy: row.policy ?? {},
    output: row.output,
    error: row.error,
    attempts: row.attempts ?? [],
    labels: shownLabels(row.labels ?? {}),
    owner: row.owner,
  };
}
