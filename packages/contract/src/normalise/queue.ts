import { type DurationMs, type Instant, type OrderKind, parseDuration, type RateLimit } from "@carillon/core";
import { QueuePatch, QueuePauseRequest, QueuePurgeRequest } from "../schema/queue.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "./body.js";
import { pauseEnd } from "./job-verbs.js";
import { rateOf } from "./run-limits.js";

export interface QueueChange {
  readonly order?: OrderKind;
  readonly boundMs?: DurationMs | null;
  readonly concurrency?: { readonly limit: number } | null;
  readonly rateLimit?: Omit<RateLimit, "key"> | null;
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
      ...(concurrency !== undefined && { concurrency: concurrencyOf(concurrency, findings) }),
      ...(rate !== undefined && { rateLimit: rate === null ? null : queueRate(rate, findings) }),
    };
  });
}

/** A limit is given whole, or taken away. */
function concurrencyOf(given: Patched<{ limit: number }> | null, findings: Findings): { limit: number } | null {
  if (given === null || typeof given.limit === "number") return given === null ? null : { limit: given.limit ?? 0 };
  findings.add("/concurrency/limit", "field_missing", "limit is required: runs at a time");
  return null;
}

function queueRate(given: Patched<QueueRate>, findings: Findings): RateLimit | null {
  const { limit, per, burst } = given;
  if (typeof limit !== "number")
    findings.add("/rate_limit/limit", "field_missing", "limit is required: starts in any window");
  if (typeof per !== "string")
    findings.add("/rate_limit/per", "field_missing", 'per is required: a duration such as "1m"');
  if (typeof limit !== "number" || typeof per !== "string") return null;
  const rate = { limit, per, ...(typeof burst === "number" && { burst }) };
  return rateOf(rate, "/rate_limit", findings) ?? null;
}

interface QueueRate {
  readonly limit: number;
  readonly per: string;
  readonly burst?: number;
}

type Patched<Value> = { readonly [Key in keyof Value]?: Value[Key] | null };

export interface QueuePauseAsked {
  readonly reason: string | null;
  readonly until: Instant | null;
}

export function readQueuePause(body: unknown, now: Instant): QueuePauseAsked {
  return readBody(QueuePauseRequest, body, (pause, findings) => {
    return { reason: pause.reason ?? null, until: pauseEnd(pause, now, findings) };
  });
}

export function readQueuePurge(body: unknown): { readonly dryRun: boolean } {
  return readBody(QueuePurgeRequest, body, ({ dry_run: dryRun = false }) => ({ dryRun }));
}
