import type { Timer } from "../../src/index.js";
import { systemTimer } from "../../src/timer.js";

/** A hundred times faster than the clock. */
export const hurried: Timer = { delay: (ms, options) => systemTimer.delay(ms / 100, options) };
