import type { CompiledSchedule } from "@carillon/core";
import type { PauseRequest, ResumeRequest } from "../job-changes.js";
import { releaseEnds } from "../../dependencies/release-ends.js";
import type { DependencyStore, LockedJob, UntoldEnds } from "@carillon/store";
import { applyPause, applyResume, countSwallowed } from "./apply-pause.js";
import type { ChangeTransaction } from "./change-transaction.js";
import type { DueRules } from "../../schedules/due-rules.js";
import type { JobRef, ChangeContext } from "../../requests.js";

export interface JobPausesOptions {
  readonly transaction: ChangeTransaction;
  readonly dependencies: Pick<DependencyStore, "release">;
  /** What a paused job that waits for others has not been told. */
  readonly untold: (jobId: string) => Promise<UntoldEnds | null>;
  readonly rules: DueRules;
}

/** Pauses and what ends them. */
export class JobPauses {
  readonly #options: JobPausesOptions;

  constructor(options: JobPausesOptions) {
    this.#options = options;
  }

  async pause(namespaceId: number, ref: JobRef, request: PauseRequest, context: ChangeContext): Promise<string> {
    const changed = await this.#options.transaction.run(namespaceId, ref, context, {
      settles: true,
      apply: ({ draft }) => ({ result: undefined, patch: applyPause(draft, request, context.actor) }),
    });
    return changed.jobId;
  }

  async resume(
    namespaceId: number,
    ref: JobRef,
    request: ResumeRequest,
    context: ChangeContext,
  ): Promise<{ readonly id: string; readonly missed: number }> {
    const changed = await this.#options.transaction.run(namespaceId, ref, context, {
      settles: false,
      apply: async ({ tx, draft }) => {
        const { pause } = draft.job;
        if (draft.due.state !== "paused" || pause === null) return { result: 0, patch: null };
        const choice = request.missed ?? pause.missed;
        const swallowed = applyResume(draft, this.#schedule(draft.job), choice);
        const untold = await releaseEnds(tx, draft, { choice, dependencies: this.#options.dependencies });
        return { result: swallowed + untold, patch: { pause: null, endedAt: null } };
      },
    });
    return { id: changed.jobId, missed: changed.result };
  }

  async countMissed(job: LockedJob): Promise<number> {
    if (job.due.state !== "paused" || job.pause === null) return 0;
    if (job.schedule.kind === "after") return (await this.#options.untold(job.id))?.count ?? 0;
    return countSwallowed(this.#schedule(job), job.pause, job.now);
  }

  #schedule({ id: jobId, namespaceId, schedule }: LockedJob): CompiledSchedule {
    return this.#options.rules.compile({ jobId, namespaceId, schedule });
  }
}
