import { CarillonError, type DurationMs, maxRatePeriodMs, parseDuration } from "@carillon/core";
import { LimitPatch } from "../schema/limit.js";
import { readBody } from "./body.js";

export interface LimitChange {
  readonly limit?: number;
  readonly perMs?: DurationMs;
  readonly burst?: number;
  readonly isFixed?: boolean;
}

export function readLimitPatch(body: unknown): LimitChange {
  return readBody(LimitPatch, body, ({ limit, per, burst, fixed }, findings) => {
    const perMs = per === undefined ? undefined : findings.attempt("/per", () => windowOf(per));
    return {
      ...(limit !== undefined && { limit }),
      ...(perMs !== undefined && { perMs }),
      ...(burst !== undefined && { burst }),
      ...(fixed !== undefined && { isFixed: fixed }),
    };
  });
}

/** The window of a rate. */
export function windowOf(text: string): DurationMs {
  const perMs = parseDuration(text);
  if (perMs < 1 || perMs > maxRatePeriodMs) throw new CarillonError("duration_invalid", "must be from 1ms to 31d");
  return perMs;
}
