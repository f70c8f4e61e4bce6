import type { Clock, DurationMs, Instant } from "@carillon/core";
import type { Queryable } from "./queryable.js";

/** One measurement: where the database's clock stood on our monotonic one, and how long the answer took. */
export interface ClockSample {
  readonly offsetMs: DurationMs;
  readonly roundTripMs: DurationMs;
  readonly takenAt: DurationMs;
}

/** Quartz drifts by at most about this much; it decides how fast an old sample loses its worth. */
const driftPerMs = 200e-6;
const kept = 16;

/** How far the sample may be from the truth now: half its round trip, and what drift may have added since. */
function uncertaintyMs(sample: ClockSample, at: DurationMs): DurationMs {
  return sample.roundTripMs / 2 + Math.max(0, at - sample.takenAt) * driftPerMs;
}

const statement = { text: "select extract(epoch from clock_timestamp())::float8 * 1000 as now" };

/**
 * The database's clock, read without asking it: our monotonic clock plus a measured offset. The host's wall clock plays
 * no part, so it may jump. `tick` measures; somebody else paces it.
 */
export class DatabaseClock {
  readonly #host: Clock;
  readonly #source: Queryable;
  readonly #onStep: (byMs: DurationMs) => void;
  #samples: ClockSample[] = [];
  #best: ClockSample;

  private constructor(source: Queryable, host: Clock, first: ClockSample, onStep: (byMs: DurationMs) => void) {
    this.#source = source;
    this.#host = host;
    this.#best = first;
    this.#samples = [first];
    this.#onStep = onStep;
  }

  /** Measures three times before the clock is first read: the first answer of a new connection is slow. */
  static async start(
    source: Queryable,
    host: Clock,
    onStep: (byMs: DurationMs) => void = () => undefined,
  ): Promise<DatabaseClock> {
    const clock = new DatabaseClock(source, host, await measure(source, host), onStep);
    await clock.tick();
    await clock.tick();
    return clock;
  }

  now(): Instant {
    return Math.floor(this.#host.monotonic() + this.#best.offsetMs);
  }

  /** How far off now() may be. */
  get uncertaintyMs(): DurationMs {
    return uncertaintyMs(this.#best, this.#host.monotonic());
  }

  /** The host's wall clock minus the database's: what an operator should mend when it is large. */
  get skewMs(): DurationMs {
    return this.#host.now() - this.now();
  }

  /** One measurement. */
  async tick(): Promise<ClockSample> {
    const sample = await measure(this.#source, this.#host);
    this.#take(sample);
    return sample;
  }

  /**
   * The sample with the least uncertainty wins. One that contradicts the best beyond what both allow means that a clock
   * was stepped (or our host slept): what was measured before is void.
   */
  #take(sample: ClockSample): void {
    const at = sample.takenAt;
    const byMs = sample.offsetMs - this.#best.offsetMs;
    if (Math.abs(byMs) > uncertaintyMs(sample, at) + uncertaintyMs(this.#best, at)) {
      this.#samples = [sample];
      this.#best = sample;
      this.#onStep(byMs);
      return;
    }
    this.#samples = [...this.#samples, sample].slice(-kept);
    this.#best = this.#samples.reduce((a, b) => (uncertaintyMs(b, at) <= uncertaintyMs(a, at) ? b : a));
  }
}

async function measure(source: Queryable, host: Clock): Promise<ClockSample> {
  const sent = host.monotonic();
  const { rows } = await source.query<{ now: number }>(statement);
  const answered = host.monotonic();
  const [row] = rows;
  if (row === undefined) throw new Error("the database gave no time");
  return { offsetMs: row.now - (sent + answered) / 2, roundTripMs: answered - sent, takenAt: answered };
}
