import type { Timer } from "../../src/index.js";
import { systemTimer } from "../../src/timer.js";

/** Long patience a hundred times shorter. A short limit stays: on a busy machine even the end by SIGKILL takes its time. */
export const hurried: Timer = { delay: (ms, options) => systemTimer.delay(ms >= 10_000 ? ms / 100 : ms, options) };
