import { CarillonError, firingPolicy, type Instant, type JobSpec } from "@carillon/core";
import { checkConditions } from "../../dependencies/conditions.js";
import type { Settler } from "../transaction/settler.js";
import type { JobChangeStore } from "@carillon/store";
import { applyEdit } from "./apply-edit.js";
import type { Applied, Subject } from "./change.js";
import { hasCode } from "./change-errors.js";
import type { ChangeTransaction } from "./change-transaction.js";
import { isSameSpec, specOf } from "./definition.js";
import type { DueRules } from "../../schedules/due-rules.js";
import type { JobRef, ChangeContext } from "../../requests.js";

export type Edit = (current: JobSpec, now: Instant) => JobSpec;
export type Define = (current: JobSpec | null, now: Instant) => JobSpec;

export interface JobEditsOptions {
  readonly transaction: ChangeTransaction;
  readonly changes: Pick<JobChangeStore, "definitionOf">;
  readonly settler: Settler;
  readonly rules: DueRules;
  /** Stores a new job and answers its id; throws key_taken. */
  readonly create: (namespaceId: number, spec: JobSpec) => Promise<string>;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** Each try of an upsert loses to somebody who made or cancelled the job meanwhile. */
const mostUpsertTries = 20;

/** Changes of definitions. Each answers the job's id. */
export class JobEdits {
  readonly #options: JobEditsOptions;

  constructor(options: JobEditsOptions) {
    this.#options = options;
  }

  async edit(namespaceId: number, ref: JobRef, edit: Edit, context: ChangeContext): Promise<string> {
    const changed = await this.#options.transaction.run(namespaceId, ref, context, {
      settles: true,
      apply: (subject) => this.#apply(subject, edit(specOf(subject.draft.job), subject.draft.job.now)),
    });
    return changed.jobId;
  }

  /** The definition that was in force as of a version becomes a new one. */
  async rollback(namespaceId: number, ref: JobRef, version: number, context: ChangeContext): Promise<string> {
    const { changes, transaction } = this.#options;
    const changed = await transaction.run(namespaceId, ref, context, {
      settles: true,
      apply: async (subject) => {
        const { job } = subject.draft;
        if (version < 1 || version > job.due.version) throw unknownVersion(version, job.due.version);
        const kept = await changes.definitionOf(subject.tx, job.id, version);
        const spec = kept ?? specOf(job);
        return this.#apply(subject, job.key === null ? spec : { ...spec, key: job.key });
      },
    });
    return changed.jobId;
  }

  /** Edits the job that has the key, or creates it. Of callers at the same time one creates, the others edit. */
  async upsert(
    namespaceId: number,
    key: string,
    define: Define,
    context: ChangeContext,
  ): Promise<{ readonly id: string; readonly created: boolean }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const edit: Edit = (current, now) => ({ ...define(current, now), key });
        return { id: await this.edit(namespaceId, { key }, edit, context), created: false };
      } catch (error) {
        if (!hasCode(error, "not_found") && !hasCode(error, "job_ended")) throw error;
      }
      if (context.ifVersion !== undefined)
        throw new CarillonError("precondition_failed", `there is no job ${JSON.stringify(key)} with a version`);
      try {
        const spec = { ...define(null, this.#options.now()), key };
        return { id: await this.#options.create(namespaceId, spec), created: true };
      } catch (error) {
        if (!hasCode(error, "key_taken") || attempt >= mostUpsertTries) throw error;
      }
    }
  }

  async #apply({ tx, draft, schedule }: Subject, spec: JobSpec): Promise<Applied<void>> {
    const isSame = isSameSpec(specOf(draft.job), spec);
    if (isSame && !(await this.#options.transaction.isDetached(tx, draft.job)))
      return { result: undefined, patch: null };
    if (spec.schedule.kind === "after") checkConditions(spec.schedule);
    const { id: jobId, namespaceId, due } = draft.job;
    const { rules, transaction, settler } = this.#options;
    const compiled = rules.compile({ jobId, namespaceId, schedule: spec.schedule });
    const lane = transaction.laneOf(draft.job.namespaceId, spec);
    const isToTrack = due.overlap === "allow" && firingPolicy(spec.firing ?? {}).overlap !== "allow";
    if (isToTrack) await settler.learnLive(tx, draft, { hold: false });
    return { result: undefined, patch: applyEdit(draft, schedule, { spec, lane, compiled }) };
  }
}

function unknownVersion(version: number, newest: number): CarillonError {
  return new CarillonError("version_unknown", `the job has the versions 1 to ${newest}, not ${version}`);
}
