import type { Instant } from "@carillon/core";
import type { Page, PageRequest } from "./api.js";

/** open: its runs wait; half_open: one of them is tried. */
export type BreakerState = "closed" | "open" | "half_open";

export interface BreakerView {
  readonly name: string;
  readonly state: BreakerState;
  /** Why it opened last. */
  readonly reason: string;
  readonly openedAt: Instant;
  /** When a run is tried, unless it is closed. */
  readonly probeAt: Instant;
  readonly openings: number;
  readonly updatedAt: Instant;
}

/** Breakers that have opened at least once, by name. */
export interface Breakers {
  listBreakers(namespace: string, page: PageRequest): Promise<Page<BreakerView>>;
  getBreaker(namespace: string, name: string): Promise<BreakerView | null>;
  /** Closes it by hand; null when it never opened. */
  resetBreaker(namespace: string, name: string): Promise<BreakerView | null>;
}
