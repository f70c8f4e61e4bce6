import {
  type Instant,
  type LabelCondition,
  parseId,
  parseInstant,
  parseLabelSelector,
  parseStatusFilter,
  type RunStatus,
} from "@carillon/core";
import type { Findings } from "../check/findings.js";
import { RunBulk } from "../schema/bulk.js";
import type { Run } from "../schema/run.js";
import { readBody } from "./body.js";

export interface BulkFilter {
  readonly status?: readonly RunStatus[];
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
  readonly jobId?: string;
  readonly workerId?: string;
  readonly trigger?: Run["trigger"]["kind"];
  readonly labels?: readonly LabelCondition[];
  readonly createdFrom?: Instant;
  readonly createdBefore?: Instant;
}

export interface BulkRequest {
  readonly action: RunBulk["action"];
  readonly target: { readonly ids: readonly string[] } | { readonly filter: BulkFilter };
  readonly dryRun: boolean;
}

export function readBulk(body: unknown): BulkRequest {
  return readBody(RunBulk, body, (given, findings) => {
    const { action = "cancel", filter, ids, dry_run: dryRun = false } = given;
    if ((filter === undefined) === (ids === undefined)) {
      findings.add("", "field_invalid", "say which runs by one of filter and ids; an empty filter means all");
    }
    if (ids === undefined) return { action, target: { filter: filterOf(filter ?? {}, findings) }, dryRun };
    const read = ids.flatMap((id, at) => findings.attempt(`/ids/${at}`, () => parseId("run", id)) ?? []);
    return { action, target: { ids: [...new Set(read)] }, dryRun };
  });
}

function filterOf(given: NonNullable<RunBulk["filter"]>, findings: Findings): BulkFilter {
  const { task, queue, owner, trigger } = given;
  const read = <Value>(name: keyof typeof given, parse: (text: string) => Value): Value | undefined => {
    const text = given[name];
    return text === undefined ? undefined : findings.attempt(`/filter/${name}`, () => parse(text));
  };
  const jobId = read("job_id", (text) => parseId("job", text));
  const workerId = read("worker_id", (text) => parseId("wrk", text));
  const status = read("status", parseStatusFilter);
  const labels = read("label_selector", parseLabelSelector);
  const createdFrom = read("created_after", (text) => parseInstant(text));
  const createdBefore = read("created_before", (text) => parseInstant(text));
  return {
    ...(status !== undefined && { status }),
    ...(task !== undefined && { task }),
    ...(queue !== undefined && { queue }),
    ...(owner !== undefined && { owner }),
    ...(jobId !== undefined && { jobId }),
    ...(workerId !== undefined && { workerId }),
    ...(trigger !== undefined && { trigger }),
    ...(labels !== undefined && { labels }),
    ...(createdFrom !== undefined && { createdFrom }),
    ...(createdBefore !== undefined && { createdBefore }),
  };
}
