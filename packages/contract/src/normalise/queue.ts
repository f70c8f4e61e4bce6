import { type DurationMs, type Instant, type OrderKind, parseDuration } from "@carillon/core";
import { QueuePatch, QueuePauseRequest, QueuePurgeRequest } from "../schema/queue.js";
import { readBody } from "./body.js";
import { pauseEnd } from "./job-verbs.js";
import { type OwnLimitChange, ownLimitChange } from "./own-limits.js";

export interface QueueChange extends OwnLimitChange {
  readonly order?: OrderKind;
  readonly boundMs?: DurationMs | null;
}

export function readQueuePatch(body: unknown): QueueChange {
  return readBody(QueuePatch, body, ({ order, bound, concurrency, rate_limit: rate }, findings) => {
    const hasNone = order === "strict" || order === "fifo";
    if (typeof bound === "string" && hasNone) {
      findings.add("/bound", "field_invalid", `the order ${order} takes no bound: nothing is moved by priority`);
    }
    const boundMs = typeof bound === "string" ? findings.attempt("/bound", () => parseDuration(bound)) : bound;
    return {
      ...(order !== undefined && { order }),
      ...(boundMs !== undefined && { boundMs }),
      ...ownLimitChange({ concurrency, rate_limit: rate }, findings),
    };
  });
}

export interface QueuePauseAsked {
  readonly reason: string | null;
  readonly until: Instant | null;
}

export function readQueuePause(body: unknown, now: Instant): QueuePauseAsked {
  return readBody(QueuePauseRequest, body, (pause, findings) => {
    return { reason: pause.reason ?? null, until: pauseEnd(pause, now, findings) };
  });
}

export interface QueuePurgeAsked {
  readonly isOfDelayed: boolean;
  readonly dryRun: boolean;
}

export function readQueuePurge(body: unknown): QueuePurgeAsked {
  return readBody(QueuePurgeRequest, body, ({ delayed: isOfDelayed = true, dry_run: dryRun = false }) => {
    return { isOfDelayed, dryRun };
  });
}
