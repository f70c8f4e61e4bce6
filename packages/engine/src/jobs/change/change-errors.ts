import { CarillonError, formatId } from "@carillon/core";
import type { JobDraft } from "../transaction/job-draft.js";
import { sqlStateOf } from "@carillon/store";
import type { JobRef, ChangeContext } from "../../requests.js";

const lockNotAvailable = "55P03";

export function hasCode(error: unknown, code: CarillonError["code"]): boolean {
  return error instanceof CarillonError && error.code === code;
}

export function notFound(ref: JobRef): CarillonError {
  return new CarillonError("not_found", `there is no job ${nameOf(ref)}`);
}

export function ended(ref: JobRef): CarillonError {
  return new CarillonError("job_ended", `the job ${nameOf(ref)} is cancelled: make another one`);
}

export function otherVersion({ job }: JobDraft, { ifVersion }: ChangeContext): CarillonError {
  const detail = `the job has version ${job.due.version} and the change asks for ${ifVersion}: read it again`;
  return new CarillonError("precondition_failed", detail);
}

/** A lock that was not to be had is the answer of a busy job; any other error stays as it is. */
export function clearer(error: unknown, ref: JobRef): unknown {
  if (sqlStateOf(error) !== lockNotAvailable) return error;
  const detail = `somebody else holds the job ${nameOf(ref)} for longer than a change waits; nothing was changed`;
  return new CarillonError("job_busy", detail, { cause: error });
}

/** What the change needs from outside its transaction was never the newest. */
export function outrun(ref: JobRef): CarillonError {
  const detail = `what decides over the job ${nameOf(ref)} changes faster than it can be read; nothing was changed`;
  return new CarillonError("job_busy", detail);
}

function nameOf(ref: JobRef): string {
  return "id" in ref ? formatId("job", ref.id) : JSON.stringify(ref.key);
}
