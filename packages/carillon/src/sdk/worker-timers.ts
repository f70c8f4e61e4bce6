import { systemClock, systemSoon, systemTimers } from "@carillon/core";
import type { WorkerTimers } from "@carillon/worker";

export const workerTimers: WorkerTimers = {
  ...systemTimers,
  monotonic: () => systemClock.monotonic(),
  soon: systemSoon,
};
