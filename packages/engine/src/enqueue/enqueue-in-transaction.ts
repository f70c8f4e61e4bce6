import { canonicalUuid, type EnqueueSpec, storedLabels } from "@carillon/core";
import { refuseUnusable } from "../catalog/lane-name.js";
import type { TransactionQuery } from "./enqueue.js";
import { jsonOrNull, jsonParam, timestampParam } from "@carillon/store";
import { duplicateOf } from "./run-enqueuer.js";

export interface TransactionRequest {
  readonly namespace: string;
  readonly spec: EnqueueSpec;
  /** Whether the commit tells whoever waits. */
  readonly notify: boolean;
}

/**
 * Asks for a run over somebody's own connection, by the database's function. All values are texts, numbers, booleans or null, which every
 * driver sends alike.
 */
export async function enqueueInTransaction(
  tx: TransactionQuery,
  text: string,
  request: TransactionRequest,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { spec } = request;
  refuseUnusable(spec, null);
  const answer = rowOf(await tx.query(text, valuesOf(request)));
  if (!answer.isNew && spec.dedupe?.on === "reject") throw duplicateOf(spec, answer.id);
  return answer;
}

function valuesOf({ namespace, spec, notify }: TransactionRequest): unknown[] {
  const { dedupe, runAt } = spec;
  return [
    spec.task,
    jsonParam(spec.payload),
    spec.queue,
    spec.priority,
    runAt === null ? null : timestampParam(runAt),
    jsonOrNull(spec.policy),
    jsonOrNull(storedLabels(spec)),
    spec.owner ?? null,
    dedupe?.key ?? null,
    // A refusal by the function would end the caller's transaction; the caller is told without that.
    dedupe === undefined || dedupe.on === "reject" ? null : dedupe.on,
    dedupe === undefined || dedupe.windowMs === null ? null : dedupe.windowMs / 1_000,
    notify,
    namespace,
  ];
}

/** Drivers answer with the rows, or with an object that has them. */
function rowOf(answer: unknown): { readonly id: string; readonly isNew: boolean } {
  const rows: unknown = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null)?.rows;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row === "object" && row !== null && "run_id" in row && "is_new" in row) {
    const id = canonicalUuid(String(row.run_id));
    if (id !== null) return { id, isNew: row.is_new === true };
  }
  throw new TypeError("tx.query must answer with the rows, or with an object that has them as rows");
}
