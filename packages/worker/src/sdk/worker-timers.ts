import { systemClock, systemSoon, systemTimers } from "@carillon/core";
import type { WorkerTimers } from "../runtime/timers.js";

/** The system's own. */
export const workerTimers: WorkerTimers = {
  ...systemTimers,
  monotonic: () => systemClock.monotonic(),
  soon: systemSoon,
};
