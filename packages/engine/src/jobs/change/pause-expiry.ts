import type { CompiledSchedule } from "@carillon/core";
import { releaseEnds } from "../../dependencies/release-ends.js";
import { calendarRuleOf } from "../../schedules/calendar-rule.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { Settled, SettlerStore } from "../transaction/settler.js";
import type { DependencyStore, Fence, JobChangeStore, JobTouch, Queryable, StoredPause } from "@carillon/store";
import { applyResume } from "./apply-pause.js";
import type { DueRules } from "../../schedules/due-rules.js";

/** A paused job as the wheel holds it. */
export interface ExpiredPause {
  readonly jobId: string;
  readonly version: number;
}

export interface PauseExpiryStore extends Pick<SettlerStore, "settle" | "settler"> {
  readonly dependencies: Pick<DependencyStore, "release">;
  readonly changes: Pick<JobChangeStore, "touch">;
}

/** Ends pauses whose time is over, for the scheduler: many jobs in one transaction, each as its pause said. */
export class PauseExpiry {
  readonly #store: PauseExpiryStore;
  readonly #rules: DueRules;
  readonly #onSettled: (settled: Settled) => void;

  constructor(store: PauseExpiryStore, rules: DueRules, onSettled: (settled: Settled) => void) {
    this.#store = store;
    this.#rules = rules;
    this.#onSettled = onSettled;
  }

  /** Answers the jobs that are not paused any more, or have no end of their pause; the others changed, or are held. */
  async resume(fence: Fence, expired: readonly ExpiredPause[]): Promise<string[]> {
    const { settler, changes } = this.#store;
    const { resumed, settled } = await this.#store.settle(async (tx) => {
      const locked = await settler.reads.lockExpired(tx, fence, expired);
      const drafts = await settler.open(tx, locked);
      if (drafts.some((draft) => this.#isOutdated(draft))) await this.#rules.refresh();
      const touches = drafts.map((draft) => this.#expire(draft));
      for (const draft of drafts) await this.#release(tx, draft);
      const written = await settler.write(tx, drafts);
      await changes.touch(tx, touches);
      return { resumed: locked, settled: written };
    });
    this.#onSettled(settled);
    return resumed;
  }

  /** A job that waits for others is told what it missed, as its pause said. */
  async #release(tx: Queryable, draft: JobDraft): Promise<void> {
    const { pause } = draft.job;
    if (draft.due.state !== "active" || pause === null) return;
    await releaseEnds(tx, draft, { choice: pause.missed, dependencies: this.#store.dependencies });
  }

  #isOutdated({ job }: JobDraft): boolean {
    return calendarRuleOf(job.schedule) !== null && job.windows !== this.#rules.revision;
  }

  #expire(draft: JobDraft): JobTouch {
    const { id, due, pause } = draft.job;
    const version = due.version + 1;
    const left = pause === null ? null : this.#tryResume(draft, pause);
    draft.set({ version, ledgerFrom: null, ledgerReason: null });
    return { id, expectedVersion: due.version, version, pause: left, endedAt: null };
  }

  /** A job whose rule cannot be read any more stays paused, without an end, and says why; the others do not wait for it. */
  #tryResume(draft: JobDraft, pause: StoredPause): StoredPause | null {
    const { id: jobId, namespaceId, schedule } = draft.job;
    let compiled: CompiledSchedule;
    try {
      compiled = this.#rules.compile({ jobId, namespaceId, schedule });
    } catch (error) {
      draft.set({ fireAt: null });
      const why = error instanceof Error ? error.message : String(error);
      return { ...pause, until: null, reason: `cannot be resumed: ${why}`, actor: "system" };
    }
    applyResume(draft, compiled, pause.missed);
    return null;
  }
}
