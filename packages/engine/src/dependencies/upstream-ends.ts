import { formatId, type MissedChoice, occurrenceRunId, withTrace } from "@carillon/core";
import type { Dependency, Queryable, UpstreamEnd } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import { afterTrigger } from "../runs/run-reader.js";
import { Conditions } from "./conditions.js";
import { evaluateEnds } from "./evaluate-ends.js";

export type UpstreamEndsContext = Pick<EngineContext, "db" | "store">;

/** The upstream ends that drafts processed; they are not written yet. */
export interface ProcessedEnds {
  readonly ends: readonly UpstreamEnd[];
  readonly dependencies: readonly Dependency[];
  /** Paused jobs: their ends wait for the resume. */
  readonly pausedJobs: readonly string[];
}

export const noEnds: ProcessedEnds = { ends: [], dependencies: [], pausedJobs: [] };

/** Applies the ends of upstream runs to the locked jobs that wait for them: each end becomes a run or an entry of the ledger, exactly once. */
export class UpstreamEnds {
  readonly #context: UpstreamEndsContext;
  readonly #conditions = new Conditions();

  constructor(context: UpstreamEndsContext) {
    this.#context = context;
  }

  /** Changes the drafts in memory. Write the drafts and the result in the same transaction, or neither. */
  async process(tx: Queryable, drafts: readonly JobDraft[], limit: number): Promise<ProcessedEnds> {
    const { dependencies: links, upstreamEnds: store } = this.#context.store;
    const waiting = drafts.filter((draft) => draft.due.state !== "paused");
    const pausedJobs = drafts.filter((draft) => draft.due.state === "paused").map((draft) => draft.job.id);
    const ids = waiting.map((draft) => draft.job.id);
    const ends = ids.length === 0 ? [] : await store.list(tx, ids, limit);
    if (ends.length === 0) return { ...noEnds, pausedJobs };
    const known = await links.ofJobs(tx, ids);
    const dependencies = waiting.flatMap((draft) => this.#apply(draft, known, ends));
    return { ends, dependencies, pausedJobs };
  }

  async write(tx: Queryable, { ends, dependencies, pausedJobs }: ProcessedEnds): Promise<void> {
    const { upstreamEnds: store } = this.#context.store;
    await store.delete(tx, ends);
    await store.saveProgress(tx, dependencies);
    await store.defer(tx, pausedJobs);
  }

  /**
   * For a job that is resumed: the ends that its choice drops go to the ledger, the others become due. Returns how many ends the job missed; 0 for
   * a job that waits for no other.
   */
  async release(tx: Queryable, draft: JobDraft, choice: MissedChoice): Promise<number> {
    if (draft.job.schedule.kind !== "after") return 0;
    const { count, dropped } = await this.#context.store.upstreamEnds.release(tx, draft.job.id, choice);
    if (dropped !== null) draft.noteApart({ reason: "paused", ...dropped });
    return count;
  }

  /** How many ends a paused job has not received. */
  async countPending(jobId: string): Promise<number> {
    const { db, store } = this.#context;
    return (await store.upstreamEnds.pending(db, jobId))?.count ?? 0;
  }

  #apply(draft: JobDraft, known: readonly Dependency[], ends: readonly UpstreamEnd[]): readonly Dependency[] {
    const { id: jobId, schedule, now } = draft.job;
    if (draft.due.state !== "active" || schedule.kind !== "after") return [];
    const own = <Row extends { readonly jobId: string }>(rows: readonly Row[]) =>
      rows.filter((row) => row.jobId === jobId);
    const waiting = { mode: schedule.mode ?? "all", dependencies: own(known) };
    const { fires, unmet, dependencies } = evaluateEnds(waiting, own(ends), (when, end) =>
      this.#conditions.holds(when, end),
    );
    for (const { endedAt, runId, why } of unmet) {
      const detail = `the condition on ${formatId("run", runId)} ${why}`;
      draft.noteApart({ reason: "condition", from: endedAt, to: endedAt, count: 1, detail });
    }
    for (const { endedAt: nominal, runId, runIds } of fires) {
      const trace = own(ends).find((end) => end.runId === runId)?.trace ?? null;
      const overrides = trace === null ? {} : { policy: withTrace(draft.job.policy, trace) };
      const trigger = afterTrigger(runId, runIds);
      const id = occurrenceRunId(jobId, nominal, `after:${runId}`);
      if (draft.place({ id, trigger, nominal, runAt: now, overrides }) !== "refused") continue;
      draft.noteApart({ reason: "overlap", from: nominal, to: nominal, count: 1, detail: formatId("run", runId) });
    }
    return dependencies;
  }
}
