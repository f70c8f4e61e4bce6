import { formatId, type Instant } from "@carillon/core";
import type { LimitView, RunLimitsView } from "../limits/limits.js";
import { durationText, plain, type RunExplanation } from "./explanation.js";

/** Names the first limit of a waiting run that has no room; ordering keys precede the others. */
export function explainLimits({ limits, position: ahead }: RunLimitsView, now: Instant): RunExplanation {
  const behind = ahead === 0 ? "" : `; ${ahead} that wait for the same go before it`;
  for (const limit of [...limits].sort((a, b) => rankOf(a) - rankOf(b))) {
    const found = full(limit, now);
    if (found !== null) return { ...found, detail: `${found.detail}${behind}`, facts: { ...found.facts, ahead } };
  }
  return { ...plain("limit_pending", `its limits have room: it is admitted in its turn${behind}`), facts: { ahead } };
}

const rankOf = ({ kind }: LimitView): number => ["order", "concurrency", "rate"].indexOf(kind);

/** null: the limit has room. */
function full(limit: LimitView, now: Instant): RunExplanation | null {
  const { scope, kind, key, used, limit: max } = limit;
  const facts = { scope, key, used, limit: max };
  const what = scope === "key" ? `key ${JSON.stringify(key)}` : `${scope} ${key}`.trim();
  if (kind === "order") return ordered(limit, what);
  if (used < max) return null;
  if (kind === "concurrency")
    return { code: "limit_concurrency", detail: `${what}: ${used} of ${max} are running`, until: null, facts };
  const { perMs, nextRoomAt: until } = limit;
  const when = until === null ? "waits for one to start" : `about ${durationText(until - now)}`;
  const detail = `rate limit of ${what}: ${max} in ${durationText(perMs ?? 0)}, ${when}`;
  return { code: "limit_rate", detail, until, facts: { ...facts, per_ms: perMs ?? 0 } };
}

function ordered({ key, scope, used, stoppedBy }: LimitView, what: string): RunExplanation | null {
  const facts = { scope, key };
  if (stoppedBy !== null) {
    const run = formatId("run", stoppedBy);
    const detail = `${what} goes in order and ${run} failed: retry or discard it`;
    return { code: "limit_order", detail, until: null, facts: { ...facts, run } };
  }
  if (used === 0) return null;
  return { code: "limit_order", detail: `${what} goes in order: the run before is not over`, until: null, facts };
}
