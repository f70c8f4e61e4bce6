import type { Instant, MaintenanceWindow } from "@carillon/core";
import { scannedFires } from "../../../../../core/test/oracle/scanned-fires.js";
import { dayMs, yearEnd, yearStart } from "../draw/year.js";
import type { DrawnJob } from "../draw/jobs.js";
import type { WindowsInForce } from "../world/life.js";
import { clockOf } from "./zone-clocks.js";

interface Open {
  readonly window: MaintenanceWindow;
  readonly from: Instant;
  readonly to: Instant;
}

/** When maintenance windows were open, computed without the product's code. */
export class OpenWindows {
  /** Each set of windows with when it was in force. */
  readonly #sets: readonly { readonly from: Instant; readonly to: Instant; readonly open: readonly Open[] }[];

  constructor(inForce: readonly WindowsInForce[]) {
    this.#sets = inForce.map(({ from, windows }, index) => ({
      from,
      to: inForce[index + 1]?.from ?? Infinity,
      open: windows.flatMap(openings),
    }));
  }

  /** Whether a window in force at an instant was open then for a job. */
  isOpen(job: DrawnJob, at: Instant): boolean {
    return this.#sets.some(({ from, to, open }) => from <= at && at < to && open.some((one) => covers(one, job, at)));
  }

  /** Whether any window that was in force at some time within the span was open for the job within it. */
  wasOpenWithin(job: DrawnJob, from: Instant, to: Instant): boolean {
    return this.#sets.some(
      (set) =>
        set.from <= to &&
        from <= set.to &&
        set.open.some((one) => concerns(one.window, job) && one.from <= to && from < one.to),
    );
  }
}

function openings(window: MaintenanceWindow): Open[] {
  const { time } = window;
  if (time.kind === "once") return [{ window, from: time.from, to: time.to }];
  const { cron: expression, timeZone, durationMs } = time;
  const starts = scannedFires({ expression, timeZone }, clockOf(timeZone), yearStart - dayMs, yearEnd + 30 * dayMs);
  return starts.map((from) => ({ window, from, to: from + durationMs }));
}

function covers({ window, from, to }: Open, job: DrawnJob, at: Instant): boolean {
  return from <= at && at < to && concerns(window, job);
}

function concerns({ scope: { queue, labels = {}, namespace } }: MaintenanceWindow, { spec }: DrawnJob): boolean {
  if (namespace !== undefined && namespace !== "default") return false;
  if (queue !== undefined && queue !== spec.queue) return false;
  return Object.entries(labels).every(([name, value]) => spec.labels[name] === value);
}
