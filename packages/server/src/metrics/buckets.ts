/** Seconds. Fine where the promises are (tens of milliseconds), coarse where something is wrong anyway. */
export const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Runs take from a millisecond to hours. */
export const durationBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/** Around the time of a lease. */
export const takeoverBuckets = [0.5, 1, 1.5, 2, 3, 5, 7, 10, 20];
