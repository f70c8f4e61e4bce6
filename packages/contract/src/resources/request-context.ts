import { type DurationMs, formatDuration, type Instant, type JobSpec } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import type { RefuseTarget } from "./end-callback.js";
import type { DefaultsOf } from "./task-defaults.js";

/** Returns the faults of a payload, with pointers from the payload on; none for a task without a known schema. */
export type CheckPayload = (
  task: string,
  payload: unknown,
) => readonly { readonly pointer: string; readonly message: string }[];

export function addPayloadFaults(
  check: CheckPayload | undefined,
  task: string,
  payload: unknown,
  findings: Findings,
): void {
  for (const { pointer, message } of check?.(task, payload) ?? [])
    findings.add(`/payload${pointer}`, "payload_invalid", message);
}

export interface RequestContext {
  readonly now: Instant;
  /** An instant further in the past than this is refused; a day by default. */
  readonly catchupWindowMs?: DurationMs;
  /** The definition that the request replaces. It keeps what the request leaves out, such as the anchor of an interval. */
  readonly current?: JobSpec;
  /** The job's payload, where the request does not carry it. */
  readonly payload?: { readonly value: unknown };
  /** Checks payloads of tasks that have a schema. */
  readonly checkPayload?: CheckPayload;
  /** Names addresses that no callback may have; without it none is refused. */
  readonly refuseTarget?: RefuseTarget;
  /** The defaults of a task; without it, as for a change of a job, there are none. */
  readonly defaultsOf?: DefaultsOf;
}

const defaultCatchupWindowMs: DurationMs = 86_400_000;

/** Records an instant that lies further in the past than the request may name. */
export function refuseLongPast(
  instant: Instant,
  { now, catchupWindowMs = defaultCatchupWindowMs }: Pick<RequestContext, "now" | "catchupWindowMs">,
  { pointer, hint, findings }: { readonly pointer: string; readonly hint: string; readonly findings: Findings },
): void {
  if (instant >= now - catchupWindowMs) return;
  const detail = `Lies more than ${formatDuration(catchupWindowMs)} in the past. ${hint}`;
  findings.add(pointer, "schedule_in_past", detail);
}
