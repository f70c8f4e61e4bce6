import type { Findings } from "../check/findings.js";

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
