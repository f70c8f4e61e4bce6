import type { Timer } from "../../src/index.js";
import { systemTimer } from "../../src/timer.js";

/** Divides long timeouts by a hundred. Short ones stay, because on a busy machine even SIGKILL takes time. */
export const hurried: Timer = { delay: (ms, options) => systemTimer.delay(ms >= 10_000 ? ms / 100 : ms, options) };
