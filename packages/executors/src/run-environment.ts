import { NonRetryableError, type Secrets, type TaskContext } from "@carillon/worker";

/** Variables by which a program can do its work once, and a store can refuse an older attempt. */
export function runVariables({ runId, attempt, fence, idempotencyKey }: TaskContext): Record<string, string> {
  return {
    CARILLON_RUN_ID: runId,
    CARILLON_ATTEMPT: String(attempt),
    CARILLON_FENCE: String(fence),
    CARILLON_IDEMPOTENCY_KEY: idempotencyKey,
  };
}

/** The values of secrets that a payload names by variable. */
export async function secretVariables(
  names: Readonly<Record<string, string>>,
  secrets: Secrets,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [variable, secret] of Object.entries(names)) found[variable] = await requiredSecret(secret, secrets);
  return found;
}

export async function requiredSecret(name: string, secrets: Secrets): Promise<string> {
  const found = await secrets.find(name);
  if (found === undefined) throw new NonRetryableError(`This worker has no secret ${JSON.stringify(name)}.`);
  return found;
}
