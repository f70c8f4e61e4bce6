/** Milliseconds since 1970-01-01T00:00:00Z. In core, "now" is always an argument. */
export type Instant = number;

/** A span of elapsed time in milliseconds. */
export type DurationMs = number;

/**
 * The result of a search that finds nothing. It cannot be confused with a fire, since fires lie on whole seconds. Compare
 * with `===`: instants before 1970 are negative too.
 */
export const NEVER: Instant = -1;

/** The years 0001 to 9999, the range of a four-digit year. Instants outside are not supported. */
export const FIRST_INSTANT: Instant = -62_135_596_800_000;
export const LAST_INSTANT: Instant = 253_402_300_799_999;
