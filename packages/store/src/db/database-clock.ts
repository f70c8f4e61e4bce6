import type { Clock, DurationMs, Instant } from "@carillon/core";
import type { Queryable } from "./queryable.js";

/** One measurement: the database's clock minus our monotonic one, and how long the response took. */
export interface ClockSample {
  readonly offsetMs: DurationMs;
  readonly roundTripMs: DurationMs;
  readonly takenAt: DurationMs;
}

/** The maximum drift of a quartz clock, about; it decides how fast an old sample becomes uncertain. */
const driftPerMs = 200e-6;
const maxSamples = 16;

/** The maximum error of the sample now: half its round trip, and the drift since. */
function uncertaintyMs(sample: ClockSample, at: DurationMs): DurationMs {
  return sample.roundTripMs / 2 + Math.max(0, at - sample.takenAt) * driftPerMs;
}

const statement = { text: "select extract(epoch from clock_timestamp())::float8 * 1000 as now" };

/**
 * The database's clock, read without a call: our monotonic clock plus a measured offset. The host's wall clock is not
 * used, so it may jump. `tick` measures; the caller paces it.
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

  /** Measures three times before the clock is first read: the first response of a new connection is slow. */
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

  /** The maximum error of now(). */
  get uncertaintyMs(): DurationMs {
    return uncertaintyMs(this.#best, this.#host.monotonic());
  }

  /** The host's wall clock minus the database's; an operator should correct a large one. */
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
   * The sample with the least uncertainty is used. A sample that contradicts it by more than the error of both means that a
   * clock was stepped (or this host slept): the earlier samples are void.
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
    this.#samples = [...this.#samples, sample].slice(-maxSamples);
    this.#best = this.#samples.reduce((a, b) => (uncertaintyMs(b, at) <= uncertaintyMs(a, at) ? b : a));
  }
}

async function measure(source: Queryable, host: Clock): Promise<ClockSample> {
  const sent = host.monotonic();
  const { rows } = await source.query<{ now: number }>(statement);
  const answered = host.monotonic();
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no time");
  return { offsetMs: row.now - (sent + answered) / 2, roundTripMs: answered - sent, takenAt: answered };
}
