import { type CompiledCron, compileCron } from "../cron/compile.js";
import type { DurationMs, Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";

/** When a window is open: from <= instant < to once, or for a duration from each fire of a cron expression. */
export type WindowTime =
  | { readonly kind: "once"; readonly from: Instant; readonly to: Instant }
  | { readonly kind: "recurring"; readonly cron: string; readonly timeZone: string; readonly durationMs: DurationMs };

/** What a window is about; everything that is given must match. Labels match when they are all there and equal. */
export interface WindowScope {
  readonly namespace?: string;
  readonly queue?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** `hold` lets fires wait until the window is over, `skip` drops them with an entry in the ledger. */
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
 * `end` is that of the window itself. `until` is the first instant at which no window covers the subject any more: when a
 * held fire goes ahead. It is looked for when it is asked for.
 */
export interface ActiveWindow {
  readonly window: MaintenanceWindow;
  readonly end: Instant;
  readonly until: Instant;
}

/** Windows that follow one another without a pause are followed this far; who asks again at `until` learns the rest. */
const MOST_CHAINED = 1_000;

/** Ends that are remembered: in a herd all ask for the same. */
const MOST_KEPT = 1_000;

interface CompiledWindow {
  /** Which of them it is. */
  readonly place: number;
  readonly window: MaintenanceWindow;
  /** The end of the window's occurrence that covers the instant, or NEVER. */
  endAround(instant: Instant): Instant;
}

/** The windows of a namespace, ready to be asked. */
export class MaintenanceWindows {
  readonly #windows: readonly CompiledWindow[];
  readonly #ends = new Map<string, Instant>();

  constructor(windows: readonly MaintenanceWindow[]) {
    this.#windows = windows.map(compileWindow);
  }

  /** The window that decides over a fire at this instant. `skip` wins over `hold`, then the order in which they came. */
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
    const key = `${instant} ${windows.map((one) => one.place).join()}`;
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    if (this.#ends.size >= MOST_KEPT) this.#ends.clear();
    const end = endOfAll(windows, instant);
    this.#ends.set(key, end);
    return end;
  }
}

function compileWindow(window: MaintenanceWindow, place: number): CompiledWindow {
  const { time } = window;
  if (time.kind === "once") {
    return { place, window, endAround: (instant) => (time.from <= instant && instant < time.to ? time.to : NEVER) };
  }
  const starts = compileCron(time.cron, { timeZone: time.timeZone });
  return { place, window, endAround: (instant) => endOfOccurrence(starts, time.durationMs, instant) };
}

/** Only the latest start counts: earlier ones end earlier. */
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
  for (let count = 0; count < MOST_CHAINED; count += 1) {
    const end = windows.reduce((latest, window) => Math.max(latest, window.endAround(until)), NEVER);
    if (end === NEVER) break;
    until = end;
  }
  return until;
}
