import { type Instant, parseId } from "@carillon/core";
import { Findings } from "../check/findings.js";
import { DeadLetterAction, type DeadLetterQuery, RunRepeat } from "../schema/dead-letter.js";
import { readBody } from "./body.js";
import { queryInstant } from "./query-instant.js";

export interface DeadLetterFilter {
  readonly task?: string;
  readonly queue?: string;
  readonly jobId?: string;
  readonly fingerprint?: string;
  readonly failedFrom?: Instant;
  readonly failedBefore?: Instant;
}

type FilterFields = Omit<DeadLetterQuery, "page_size" | "page_token">;

/** Members are always written in the same order: the page token's fingerprint is made from the JSON. */
function filterOf(given: FilterFields, at: string, findings: Findings): DeadLetterFilter {
  const { task, queue, job_id: job, fingerprint, failed_after: from, failed_before: before } = given;
  const instant = (name: string, text: string | undefined) =>
    text === undefined ? undefined : findings.attempt(`${at}/${name}`, () => queryInstant(text));
  const jobId = job === undefined ? undefined : findings.attempt(`${at}/job_id`, () => parseId("job", job));
  const failedFrom = instant("failed_after", from);
  const failedBefore = instant("failed_before", before);
  return {
    ...(task !== undefined && { task }),
    ...(queue !== undefined && { queue }),
    ...(jobId !== undefined && { jobId }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(failedFrom !== undefined && { failedFrom }),
    ...(failedBefore !== undefined && { failedBefore }),
  };
}

export function readDeadLetterQuery(query: DeadLetterQuery): DeadLetterFilter {
  const findings = new Findings("query");
  const filter = filterOf(query, "", findings);
  findings.raise();
  return filter;
}

export interface DeadLetterActionRequest {
  readonly filter: DeadLetterFilter;
  readonly page: { readonly page_size?: number; readonly page_token?: string };
  readonly dryRun: boolean;
}

export function readDeadLetterAction(body: unknown): DeadLetterActionRequest {
  return readBody(DeadLetterAction, body, (given, findings) => {
    const { filter = {}, page_size: size, page_token: token, dry_run: dryRun = false } = given;
    const page = { ...(size !== undefined && { page_size: size }), ...(token !== undefined && { page_token: token }) };
    return { filter: filterOf(filter, "/filter", findings), page, dryRun };
  });
}

export interface RunRepeatRequest {
  readonly payload?: { readonly value: unknown };
  readonly force?: boolean;
}

export function readRunRepeat(body: unknown): RunRepeatRequest {
  return readBody(RunRepeat, body, (given) => ({
    ...(Object.hasOwn(given, "payload") && { payload: { value: given.payload } }),
    ...(given.force !== undefined && { force: given.force }),
  }));
}
