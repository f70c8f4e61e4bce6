import type { SeededRandom } from "./random.js";

/**
 * A maintenance window for jobs with its mode as a label. Instants are milliseconds; in a plan they count from the
 * start of the load.
 */
export interface ChaosWindow {
  readonly mode: "hold" | "skip";
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Adds all days of the load to a calendar that jobs exclude, or removes them from it. */
export interface CalendarFlip {
  readonly atMs: number;
  readonly closes: boolean;
}

/** Windows and calendar changes, which apply to several jobs at once. */
export interface Constraints {
  readonly windows: readonly ChaosWindow[];
  readonly flips: readonly CalendarFlip[];
}

/** The last flip leaves the calendar closed, long before the end of the load. */
const flipShares = [0.18, 0.42, 0.68];

export function planConstraints(random: SeededRandom, loadMs: number): Constraints {
  const windowOf = (mode: ChaosWindow["mode"]): ChaosWindow => {
    const from = random.between(Math.floor(loadMs / 6), Math.floor(loadMs / 2));
    return { mode, from, to: from + random.between(5_000, 15_000) };
  };
  return {
    windows: [windowOf("hold"), windowOf("skip")],
    // Within milliseconds of a full second, when most jobs are due.
    flips: flipShares.map((share, index) => ({
      atMs: Math.round((share * loadMs) / 1_000) * 1_000 + random.between(-8, 8),
      closes: index % 2 === 0,
    })),
  };
}

export const windowFrom = (loadStart: number, { mode, from, to }: ChaosWindow): ChaosWindow => ({
  mode,
  from: loadStart + from,
  to: loadStart + to,
});

export const isInside = (window: ChaosWindow | null, at: number): window is ChaosWindow =>
  window !== null && window.from <= at && at < window.to;
