import { NonRetryableError } from "../runtime/errors.js";

/** The payload of a built-in task as an object; null and absent count as empty. Anything else will never work, so it is not retried. */
export function objectPayload(task: string, payload: unknown): Readonly<Record<string, unknown>> {
  if (payload === null || payload === undefined) return {};
  if (typeof payload === "object" && !Array.isArray(payload)) return payload as Record<string, unknown>;
  throw new NonRetryableError(`${task} wants an object as its payload, not ${JSON.stringify(payload)}`);
}
