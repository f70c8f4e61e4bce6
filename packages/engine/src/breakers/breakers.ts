import type { BreakerView } from "@carillon/store";
import type { Page, PageRequest } from "../requests.js";

/** Breakers that have opened at least once, by name. */
export interface Breakers {
  listBreakers(namespace: string, page: PageRequest): Promise<Page<BreakerView>>;
  getBreaker(namespace: string, name: string): Promise<BreakerView | null>;
  /** Closes it by hand; null when it never opened. */
  resetBreaker(namespace: string, name: string): Promise<BreakerView | null>;
}
