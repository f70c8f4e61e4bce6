import { compileCron } from "../cron/compile.js";
import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import { smallestCronInterval } from "../schedule/smallest-interval.js";
import type { MaintenanceWindow } from "./maintenance-window.js";

/** Everything that is wrong with a maintenance window. */
export function checkWindow({ scope, time }: MaintenanceWindow): ErrorItem[] {
  const found: ErrorItem[] = [];
  if (scope.namespace === undefined && scope.queue === undefined && Object.keys(scope.labels ?? {}).length === 0) {
    found.push(invalid("/scope", "a window names a namespace, a queue or labels"));
  }
  if (time.kind === "once") {
    if (!(time.from < time.to)) found.push(invalid("/to", "the window ends before it begins: set to later than from"));
    return found;
  }
  try {
    compileCron(time.cron, { timeZone: time.timeZone });
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    const pointer = error.code === "time_zone_unknown" ? "/time_zone" : "/cron";
    return [...found, { pointer, code: error.code, detail: error.message }];
  }
  const smallestMs = smallestCronInterval({ kind: "cron", cron: time.cron, timeZone: time.timeZone });
  if (!Number.isSafeInteger(time.durationMs) || time.durationMs < 1) {
    found.push(invalid("/duration", "the duration is a whole number of milliseconds, such as 2h"));
  } else if (time.durationMs >= smallestMs) {
    found.push(
      invalid(
        "/duration",
        `a duration of ${time.durationMs} ms is as long as the ${smallestMs} ms between two windows: the window would never end`,
      ),
    );
  }
  return found;
}

function invalid(pointer: string, detail: string): ErrorItem {
  return { pointer, code: "maintenance_window_invalid", detail };
}
