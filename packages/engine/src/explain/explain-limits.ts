import { formatId, type Instant } from "@carillon/core";
import type { RunExplanation } from "./explanations.js";
import type { LimitView, RunLimitsView } from "../limits/limits.js";
import { inWords } from "./words.js";

/** Which of the limits of a run that waits has no room: the first one, ordering keys before the others. */
export function explainLimits({ limits, position: ahead }: RunLimitsView, now: Instant): RunExplanation {
  const behind = ahead === 0 ? "" : `; ${ahead} that wait for the same go before it`;
  for (const limit of [...limits].sort((a, b) => rankOf(a) - rankOf(b))) {
    const found = full(limit, now);
    if (found !== null) return { ...found, detail: `${found.detail}${behind}`, facts: { ...found.facts, ahead } };
  }
  const detail = `its limits have room: it is admitted in its turn${behind}`;
  return { code: "limit_pending", detail, until: null, facts: { ahead } };
}

const rankOf = ({ kind }: LimitView): number => ["order", "concurrency", "rate"].indexOf(kind);

/** null: it has room. */
function full(limit: LimitView, now: Instant): RunExplanation | null {
  const { scope, kind, key, used, limit: most } = limit;
  const facts = { scope, key, used, limit: most };
  const what = scope === "key" ? `key ${JSON.stringify(key)}` : `${scope} ${key}`.trim();
  if (kind === "order") return ordered(limit, what);
  if (used < most) return null;
  if (kind === "concurrency")
    return { code: "limit_concurrency", detail: `${what}: ${used} of ${most} are running`, until: null, facts };
  const { perMs, nextRoomAt: until } = limit;
  const when = until === null ? "waits for one to start" : `about ${inWords(until - now)}`;
  const detail = `rate limit of ${what}: ${most} in ${inWords(perMs ?? 0)}, ${when}`;
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
