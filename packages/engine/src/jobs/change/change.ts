import type { CompiledSchedule } from "@carillon/core";
import type { JobDraft } from "../transaction/job-draft.js";
import type { Settled } from "../transaction/settler.js";
import type { Queryable } from "@carillon/store";
import type { JobPatch } from "./job-patch.js";

/** A job in the middle of its change: locked, read, and what was due settled in the draft. */
export interface Subject {
  readonly tx: Queryable;
  readonly draft: JobDraft;
  /** The rule in force; null where it cannot be compiled any more. */
  readonly schedule: CompiledSchedule | null;
}

/** One kind of change. `apply` must bear being called again: a transaction may be repeated. */
export interface Change<Result> {
  /** Occurrences that are due are settled first. */
  readonly settles: boolean;
  /** A cancelled job may be answered too. */
  readonly takesEnded?: boolean;
  apply(subject: Subject): Promise<Applied<Result>> | Applied<Result>;
}

export interface Applied<Result> {
  readonly result: Result;
  /** null: the job stays as it was, and with it what was due. */
  readonly patch: JobPatch | "runs_only" | null;
}

export interface Changed<Result> {
  readonly jobId: string;
  readonly shard: number;
  readonly result: Result;
  /** null when the job stays as it was. */
  readonly settled: Settled | null;
  /** It was a one-off job that was its run alone, and became a stored job. */
  readonly adopted: boolean;
}
