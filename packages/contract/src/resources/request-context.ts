import type { DurationMs, Instant, JobSpec } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import type { RefuseTarget } from "./end-callback.js";
import type { DefaultsOf } from "./task-defaults.js";

/** What is wrong with a payload, by whoever knows its task; a pointer counts from the payload. Empty for tasks that nobody knows. */
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
  /** An instant that lies further back than this is refused. */
  readonly catchupWindowMs?: DurationMs;
  /** The definition that the request takes the place of: what it does not say anew goes on, such as an interval's anchor. */
  readonly current?: JobSpec;
  /** The payload that the job is to have, where the request does not carry it. */
  readonly payload?: { readonly value: unknown };
  /** Knows payloads of some tasks. */
  readonly checkPayload?: CheckPayload;
  /** Knows addresses that no callback may have; none is refused when left out. */
  readonly refuseTarget?: RefuseTarget;
  /** What is taken where the request leaves it out; nothing when left out, as for a change of a job. */
  readonly defaultsOf?: DefaultsOf;
}
