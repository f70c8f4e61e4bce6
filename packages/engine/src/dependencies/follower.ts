import { formatId, occurrenceRunId, withTrace } from "@carillon/core";
import type { Dependency, DependencyStore, Queryable, UpstreamEnd } from "@carillon/store";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import { afterTrigger } from "../runs/run-view.js";
import type { Conditions } from "./conditions.js";
import { judgeEnds } from "./judge-ends.js";

/** What jobs heard and is not written yet. */
export interface Heard {
  readonly told: readonly UpstreamEnd[];
  readonly dependencies: readonly Dependency[];
  /** Paused jobs: what they are to be told waits. */
  readonly parked: readonly string[];
}

export const heardNothing: Heard = { told: [], dependencies: [], parked: [] };

/** Lets locked jobs hear of the upstream runs that ended: a run, or a line in the ledger, and never twice. */
export class Follower {
  readonly #store: DependencyStore;
  readonly #conditions: Conditions;

  constructor(store: DependencyStore, conditions: Conditions) {
    this.#store = store;
    this.#conditions = conditions;
  }

  /** Changes the drafts in memory. Write both, in the same transaction, or neither. */
  async hear(tx: Queryable, drafts: readonly JobDraft[], limit: number): Promise<Heard> {
    const waiting = drafts.filter((draft) => draft.due.state !== "paused");
    const parked = drafts.filter((draft) => draft.due.state === "paused").map((draft) => draft.job.id);
    const ids = waiting.map((draft) => draft.job.id);
    const told = ids.length === 0 ? [] : await this.#store.ends(tx, ids, limit);
    if (told.length === 0) return { ...heardNothing, parked };
    const dependencies = await this.#store.ofJobs(tx, ids);
    const changed = waiting.flatMap((draft) => this.#tell(draft, dependencies, told));
    return { told, dependencies: changed, parked };
  }

  async write(tx: Queryable, { told, dependencies, parked }: Heard): Promise<void> {
    await this.#store.told(tx, told);
    await this.#store.meet(tx, dependencies);
    await this.#store.park(tx, parked);
  }

  #tell(draft: JobDraft, dependencies: readonly Dependency[], told: readonly UpstreamEnd[]): readonly Dependency[] {
    const { id: jobId, schedule, now } = draft.job;
    if (draft.due.state !== "active" || schedule.kind !== "after") return [];
    const own = <Row extends { readonly jobId: string }>(rows: readonly Row[]) =>
      rows.filter((row) => row.jobId === jobId);
    const waiting = { mode: schedule.mode ?? "all", dependencies: own(dependencies) };
    const judgement = judgeEnds(waiting, own(told), (when, end) => this.#conditions.holds(when, end));
    for (const { endedAt, runId, why } of judgement.unmet) {
      const detail = `the condition on ${formatId("run", runId)} ${why}`;
      draft.noteApart({ reason: "condition", from: endedAt, to: endedAt, count: 1, detail });
    }
    for (const { endedAt: nominal, runId, runIds } of judgement.fires) {
      const trace = own(told).find((end) => end.runId === runId)?.trace ?? null;
      const overrides = trace === null ? {} : { policy: withTrace(draft.job.policy, trace) };
      const trigger = afterTrigger(runId, runIds);
      const id = occurrenceRunId(jobId, nominal, `after:${runId}`);
      if (draft.place({ id, trigger, nominal, runAt: now, overrides }) !== "refused") continue;
      draft.noteApart({ reason: "overlap", from: nominal, to: nominal, count: 1, detail: formatId("run", runId) });
    }
    return judgement.dependencies;
  }
}
