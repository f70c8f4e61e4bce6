/** The host's clock, as against the database's. */
export type { Clock as HostClock, Timers } from "@carillon/core";

/** A number in [0, 1). */
export type Random = () => number;
