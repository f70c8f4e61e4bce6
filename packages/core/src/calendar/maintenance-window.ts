import { type CompiledCron, compileCron } from "../cron/compile.js";
import { CarillonError, type ErrorItem } from "../errors/carillon-error.js";
import { smallestCronInterval } from "../schedule/smallest-interval.js";
import { type DurationMs, type Instant, NEVER } from "../time/instant.js";

/** When a window is open: from <= instant < to once, or for a duration from each fire of a cron expression. */
export type WindowTime =
  | { readonly kind: "once"; readonly from: Instant; readonly to: Instant }
  | { readonly kind: "recurring"; readonly cron: string; readonly timeZone: string; readonly durationMs: DurationMs };

/** The fires that a window covers: each given member must match. Labels match if the subject has all of them. */
export interface WindowScope {
  readonly namespace?: string;
  readonly queue?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** `hold` delays fires until the window is over, `skip` drops them with an entry in the ledger. */
export interface MaintenanceWindow {
  readonly name: string;
  readonly mode: "hold" | "skip";
  readonly scope: WindowScope;
  readonly time: WindowTime;
}

export interface WindowSubject {
  readonly namespace: string;
  readonly queue: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * `end` is the end of the window itself. `until` is the first instant at which no window covers the subject any more, when
 * a held fire proceeds; it is computed on first access.
 */
export interface ActiveWindow {
  readonly window: MaintenanceWindow;
  readonly end: Instant;
  readonly until: Instant;
}

/** How many adjoining windows one search follows. A fire that is still covered at `until` is held again then. */
const MAX_CHAINED = 1_000;

/** Many fires at one instant need the same end, so ends are cached. */
const MAX_CACHED_ENDS = 1_000;

interface CompiledWindow {
  /** The index in the list of windows. */
  readonly index: number;
  readonly window: MaintenanceWindow;
  /** The end of the window's occurrence that covers the instant, or NEVER. */
  endAround(instant: Instant): Instant;
}

/** The compiled windows of a namespace. */
export class MaintenanceWindows {
  readonly #windows: readonly CompiledWindow[];
  readonly #ends = new Map<string, Instant>();

  constructor(windows: readonly MaintenanceWindow[]) {
    this.#windows = windows.map(compileWindow);
  }

  /** The window that decides about a fire at this instant. `skip` wins over `hold`, then the earlier one in the list. */
  windowAt(instant: Instant, subject: WindowSubject): ActiveWindow | null {
    const inScope = this.#windows.filter(({ window }) => covers(window.scope, subject));
    const active = inScope.filter((window) => window.endAround(instant) !== NEVER);
    const deciding = active.find(({ window }) => window.mode === "skip") ?? active[0];
    if (deciding === undefined) return null;
    const endOf = (): Instant => this.#endOf(inScope, instant);
    return {
      window: deciding.window,
      end: deciding.endAround(instant),
      get until() {
        return endOf();
      },
    };
  }

  #endOf(windows: readonly CompiledWindow[], instant: Instant): Instant {
    const key = `${instant} ${windows.map((one) => one.index).join()}`;
    const cached = this.#ends.get(key);
    if (cached !== undefined) return cached;
    if (this.#ends.size >= MAX_CACHED_ENDS) this.#ends.clear();
    const end = endOfAll(windows, instant);
    this.#ends.set(key, end);
    return end;
  }
}

function compileWindow(window: MaintenanceWindow, index: number): CompiledWindow {
  const { time } = window;
  if (time.kind === "once") {
    return { index, window, endAround: (instant) => (time.from <= instant && instant < time.to ? time.to : NEVER) };
  }
  const starts = compileCron(time.cron, { timeZone: time.timeZone });
  return { index, window, endAround: (instant) => endOfOccurrence(starts, time.durationMs, instant) };
}

/** Earlier occurrences end earlier, so only the latest start matters. */
function endOfOccurrence(starts: CompiledCron, durationMs: DurationMs, instant: Instant): Instant {
  const start = starts.previous(Math.floor(instant) + 1);
  return start !== NEVER && instant < start + durationMs ? start + durationMs : NEVER;
}

function covers(scope: WindowScope, subject: WindowSubject): boolean {
  return (
    (scope.namespace === undefined || scope.namespace === subject.namespace) &&
    (scope.queue === undefined || scope.queue === subject.queue) &&
    Object.entries(scope.labels ?? {}).every(
      ([key, value]) => Object.hasOwn(subject.labels, key) && subject.labels[key] === value,
    )
  );
}

function endOfAll(windows: readonly CompiledWindow[], instant: Instant): Instant {
  let until = instant;
  for (let count = 0; count < MAX_CHAINED; count += 1) {
    const end = windows.reduce((latest, window) => Math.max(latest, window.endAround(until)), NEVER);
    if (end === NEVER) break;
    until = end;
  }
  return until;
}

/** All problems of a maintenance window. */
export function checkWindow({ scope, time }: MaintenanceWindow): ErrorItem[] {
  const found: ErrorItem[] = [];
  if (scope.namespace === undefined && scope.queue === undefined && Object.keys(scope.labels ?? {}).length === 0) {
    found.push(invalid("/scope", "The scope of a window names a namespace, a queue or labels."));
  }
  if (time.kind === "once") {
    if (!(time.from < time.to)) found.push(invalid("/to", "The window ends before it begins; set to later than from."));
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
    found.push(invalid("/duration", "The duration is a whole number of milliseconds, such as 2h."));
  } else if (time.durationMs >= smallestMs) {
    found.push(
      invalid(
        "/duration",
        `A duration of ${time.durationMs} ms is as long as the ${smallestMs} ms between two windows; the window would never end.`,
      ),
    );
  }
  return found;
}

function invalid(pointer: string, detail: string): ErrorItem {
  return { pointer, code: "maintenance_window_invalid", detail };
}
