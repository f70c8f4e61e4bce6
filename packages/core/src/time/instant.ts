/** Milliseconds since 1970-01-01T00:00:00Z. Every instant in core is one; "now" is always an argument. */
export type Instant = number;

/** A span of elapsed time in milliseconds. */
export type DurationMs = number;
