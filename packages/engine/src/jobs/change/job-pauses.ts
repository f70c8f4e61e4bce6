import type { CompiledSchedule } from "@carillon/core";
import type { JobRef } from "../../model/api.js";
import type { ChangeContext, PauseRequest, ResumeRequest } from "../../model/job-changes.js";
import type { LockedJob } from "../../store/entities/settlement.js";
import { applyPause, applyResume, countSwallowed } from "./apply-pause.js";
import type { ChangeTransaction } from "./change-transaction.js";
import type { DueRules } from "./due-rules.js";

export interface JobPausesOptions {
  readonly transaction: ChangeTransaction;
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
      apply: ({ draft }) => {
        const { pause } = draft.job;
        if (draft.due.state !== "paused" || pause === null) return { result: 0, patch: null };
        const missed = applyResume(draft, this.#schedule(draft.job), request.missed ?? pause.missed);
        return { result: missed, patch: { pause: null, endedAt: null } };
      },
    });
    return { id: changed.jobId, missed: changed.result };
  }

  countMissed(job: LockedJob): number {
    if (job.due.state !== "paused" || job.pause === null) return 0;
    return countSwallowed(this.#schedule(job), job.pause, job.now);
  }

  #schedule({ id: jobId, namespaceId, schedule }: LockedJob): CompiledSchedule {
    return this.#options.rules.compile({ jobId, namespaceId, schedule });
  }
}
