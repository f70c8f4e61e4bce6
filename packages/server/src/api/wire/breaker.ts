import type { Breaker } from "@carillon/contract";
import type { BreakerView } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

export function wireBreaker({ name, state, reason, openedAt, probeAt, openings, updatedAt }: BreakerView): Breaker {
  return {
    name,
    state,
    reason,
    opened_at: timestamp(openedAt),
    probe_at: state === "closed" ? null : timestamp(probeAt),
    openings,
    updated_at: timestamp(updatedAt),
  };
}
