import { isFinal, callbackSessionId, retryOf, shownLabels, timeOfUuid } from "@carillon/core";
import { upstreamIdsOf } from "./run-trigger.js";
import type { RunView } from "./run-view.js";
import type { RunReads, RunRow, TriggerKind } from "@carillon/store";

/** A run's end is recorded by the database's clock and its id was made by a node's: allow for their difference. */
export const clockSlackMs = 3_600_000;

/**
 * Reads runs wherever they are: live ones first, near their time or far from it, then finished ones from history. One by its id is found
 * also while it is still to be made by its job, which was changed before its time.
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
    // Its job may have made it between the two looks.
    const live = await this.#reads.live(namespaceId, [id]);
    return (await this.views(live))[0] ?? null;
  }

  async findMany(namespaceId: number, ids: readonly string[]): Promise<Map<string, RunView>> {
    if (ids.length === 0) return new Map();
    const live = await this.#reads.live(namespaceId, ids);
    const found = new Map((await this.views(live)).map((run) => [run.id, run]));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) return found;
    // A run that ended between the two reads is in the second; one never goes back from history to the hot table.
    const notBefore = Math.min(...missing.map(timeOfUuid)) - clockSlackMs;
    const ended = await this.#reads.finished(namespaceId, missing, Math.max(0, notBefore));
    for (const row of ended) found.set(row.id, toRunView(row, null));
    return found;
  }

  /** What a run said of itself is looked up where a handler may have said something. */
  async views(rows: readonly RunRow[]): Promise<RunView[]> {
    const begun = rows.filter((row) => row.fence > 0 && !isFinal(row.status)).map((row) => row.id);
    const progress = begun.length === 0 ? null : await this.#reads.progress(begun);
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

/** A trigger is stored as its kind, with the id of what asked behind a colon where something did. */
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
