/**
 * Ms of a clock that all processes of the machine share and nobody sets: between two of them an interval is right. What performance.now
 * adds to its origin is not: each process took its origin from the time of day when it began, and that is corrected in between, here by
 * milliseconds within a minute.
 */
export const steadyMs = () => Number(process.hrtime.bigint()) / 1e6;
