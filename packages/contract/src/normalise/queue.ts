import { type DurationMs, type OrderKind, parseDuration } from "@carillon/core";
import { QueuePatch, QueuePauseRequest } from "../schema/queue.js";
import { readBody } from "./body.js";

export interface QueueChange {
  readonly order?: OrderKind;
  readonly boundMs?: DurationMs | null;
}

export function readQueuePatch(body: unknown): QueueChange {
  return readBody(QueuePatch, body, ({ order, bound }, findings) => {
    const hasNone = order === "strict" || order === "fifo";
    if (typeof bound === "string" && hasNone) {
      findings.add("/bound", "field_invalid", `the order ${order} takes no bound: nothing is moved by priority`);
    }
    const boundMs = typeof bound === "string" ? findings.attempt("/bound", () => parseDuration(bound)) : bound;
    return { ...(order !== undefined && { order }), ...(boundMs !== undefined && { boundMs }) };
  });
}

export function readQueuePause(body: unknown): { readonly reason: string | null } {
  return readBody(QueuePauseRequest, body, ({ reason }) => ({ reason: reason ?? null }));
}
