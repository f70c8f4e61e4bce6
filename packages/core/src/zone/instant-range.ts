import type { Instant } from "../time/instant.js";

/**
 * What a search answers when there is nothing to find. No fire can be taken for it: fires lie on whole seconds.
 * Compare with `===`; instants before 1970 are negative too.
 */
export const NEVER: Instant = -1;

/** The years 0001 to 9999, which is what a four-digit year can say; nothing outside is computed or answered. */
export const FIRST_INSTANT: Instant = -62_135_596_800_000;
export const LAST_INSTANT: Instant = 253_402_300_799_999;
