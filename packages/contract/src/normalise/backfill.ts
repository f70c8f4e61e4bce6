import { type Instant, parseInstant } from "@carillon/core";
import { JobBackfill } from "../schema/backfill.js";
import { backfillDefaults } from "../schema/limits.js";
import { readBody } from "./body.js";

export interface BackfillRequest {
  readonly from: Instant;
  readonly to: Instant;
  readonly perSecond: number;
  readonly concurrency: number;
  readonly repeats: boolean;
  readonly force: boolean;
}

export function readBackfill(
  body: unknown,
  now: Instant,
): { readonly request: BackfillRequest; readonly dryRun: boolean } {
  return readBody(JobBackfill, body, (given, findings) => {
    const instant = (name: "from" | "to", absent: Instant): Instant => {
      const text = given[name];
      return text === undefined ? absent : (findings.attempt(`/${name}`, () => parseInstant(text)) ?? absent);
    };
    const request = {
      from: instant("from", 0),
      to: instant("to", Math.floor(now)),
      perSecond: given.per_second ?? backfillDefaults.perSecond,
      concurrency: given.concurrency ?? backfillDefaults.concurrency,
      repeats: given.repeat ?? false,
      force: given.force ?? false,
    };
    return { request, dryRun: given.dry_run ?? false };
  });
}
