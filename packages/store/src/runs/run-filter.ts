import { type Instant, type LabelCondition, type RunStatus, timeOfUuid } from "@carillon/core";
import { jsonParam, timestampOrNull } from "../db/parameters.js";

export interface RunListFilter {
  readonly status?: readonly RunStatus[];
  readonly task?: string;
  readonly queue?: string;
  readonly jobId?: string;
  readonly workerId?: string;
  readonly owner?: string;
  readonly trigger?: TriggerKind;
  readonly labels?: readonly LabelCondition[];
  readonly createdFrom?: Instant;
  readonly createdBefore?: Instant;
  readonly oneOffOnly: boolean;
}

/** A node's clock makes the id of a run, the database's clock its creation and its end: they differ by less than this. */
export const clockSlackMs = 3_600_000;

/** The end of the year 9999: the worker id of a caller may have any time. */
export const latestTime = 253_402_300_799_999;

/** The filter as the part `run.conditions` takes it. */
export function runFilterValues(filter: RunListFilter) {
  const [labels, labelConditions] = labelParams(filter.labels);
  return {
    statuses: filter.status ?? null,
    task: filter.task ?? null,
    queue: filter.queue ?? null,
    jobId: filter.jobId ?? null,
    sessionId: filter.workerId ?? null,
    owner: filter.owner ?? null,
    oneOffOnly: filter.oneOffOnly,
    createdFrom: timestampOrNull(filter.createdFrom ?? null),
    createdBefore: timestampOrNull(filter.createdBefore ?? null),
    trigger: filter.trigger ?? null,
    labels,
    labelConditions,
  };
}

/** No run ends before it, its job and its worker were created: earlier days are not scanned. */
export function earliestEnd({ createdFrom, jobId, workerId }: RunListFilter): Instant | null {
  const begun = [jobId, workerId].filter((id) => id !== undefined).map(timeOfUuid);
  const bounds = begun.map((time) => Math.min(Math.max(0, time - clockSlackMs), latestTime));
  if (createdFrom !== undefined) bounds.push(createdFrom);
  return bounds.length === 0 ? null : Math.max(...bounds);
}

export type TriggerKind = "schedule" | "once" | "run_now" | "backfill" | "retry" | "replay" | "after" | "callback";

/** Conditions on labels as statements take them: those that an index covers, and the rest. */
export function labelParams(conditions: readonly LabelCondition[] = []): [string | null, string | null] {
  const equal: Record<string, string> = {};
  const rest: { key: string; is_in: boolean; among: readonly string[] | null }[] = [];
  for (const { key, isIn, among } of conditions) {
    const [value, ...others] = among ?? [];
    const isPlain = isIn && value !== undefined && others.length === 0 && !Object.hasOwn(equal, key);
    if (isPlain) equal[key] = value;
    else rest.push({ key, is_in: isIn, among: among ?? null });
  }
  return [Object.keys(equal).length === 0 ? null : jsonParam(equal), rest.length === 0 ? null : jsonParam(rest)];
}
