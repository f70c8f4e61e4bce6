import { formatId, type Instant } from "@carillon/core";
import { nextRoomAt } from "../limits/rate-window.js";
import type { RunExplanation } from "../model/explanations.js";
import type { LimitState, PlaceInLine } from "../store/entities/explain-reads.js";
import { inWords } from "./words.js";

/** Which of the limits of a run that waits has no room: the first one, ordering keys before the others. */
export function explainLimits(limits: readonly LimitState[], line: PlaceInLine, now: Instant): RunExplanation {
  const place = { ahead: line.ahead, waiting: line.of };
  const behind = line.of > 1 ? `; ${line.ahead} of ${line.of} that wait go before it` : "";
  for (const limit of [...limits].sort((a, b) => rankOf(a) - rankOf(b))) {
    const found = full(limit, now);
    if (found !== null) return { ...found, detail: `${found.detail}${behind}`, facts: { ...found.facts, ...place } };
  }
  const detail = `its limits have room: it is admitted in its turn${behind}`;
  return { code: "limit_pending", detail, until: null, facts: place };
}

const rankOf = ({ kind }: LimitState): number => ["order", "concurrency", "rate"].indexOf(kind);

/** null: it has room. */
function full(limit: LimitState, now: Instant): RunExplanation | null {
  const { scope, kind, name, used, limit: most } = limit;
  const facts = { scope, name, used, limit: most };
  const what = scope === "key" ? `key ${JSON.stringify(name)}` : `${scope} ${name}`;
  if (kind === "order") return ordered(limit, what);
  if (kind === "concurrency") {
    if (used < most) return null;
    return { code: "limit_concurrency", detail: `${what}: ${used} of ${most} are running`, until: null, facts };
  }
  const perMs = limit.perMs ?? 0;
  const state = { limit: most, perMs, burst: limit.burst ?? most, starts: limit.starts, unstarted: used };
  const next = nextRoomAt(state, now);
  if (next !== null && next <= now) return null;
  const rate = `${what}: ${most} in ${inWords(perMs)}`;
  const when = next === null ? "waits for one to start" : `about ${inWords(next - now)}`;
  return { code: "limit_rate", detail: `rate limit of ${rate}, ${when}`, until: next, facts: { ...facts, perMs } };
}

function ordered({ name, heldBy, stoppedBy, scope }: LimitState, what: string): RunExplanation | null {
  const facts = { scope, name };
  if (stoppedBy !== null) {
    const run = formatId("run", stoppedBy);
    const detail = `${what} goes in order and ${run} failed: retry or discard it`;
    return { code: "limit_order", detail, until: null, facts: { ...facts, run } };
  }
  if (heldBy === null) return null;
  const run = formatId("run", heldBy);
  return {
    code: "limit_order",
    detail: `${what} goes in order: ${run} is not over`,
    until: null,
    facts: { ...facts, run },
  };
}
