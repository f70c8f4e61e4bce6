/** Rows of one table that are counted for an exact total: what comes after is said to be at least as many. */
export const mostCounted = 100_000;
